"""Roles suggested by headings: in several languages and scripts, and as paths of nested records."""

from __future__ import annotations

import pytest

from discreet.profile.heading_hints import RoleHint, hint_role
from discreet.profile.heading_words import split_name
from discreet.profile.roles import kind_by_word

WORDS = {
    RoleHint.IDENTIFIER: """
        id ID patient_id PatientID customerId person_no record_number name Name FIRST_NAME lastName Vorname
        Nachname Prénom apellidos ssn SocialSecurityNumber e_mail email_address phone TelefonNr mobile Straße
        home_address homeaddress passport_no IBAN mrn licence_plate vin ip_address device_serial username
        photo url case_nr patient Kunde
    """,
    RoleHint.QUASI_IDENTIFIER: """
        age Alter date_of_birth dateOfBirth DOB birthYear Geburtsdatum sex gender Geschlecht race ethnicity
        zip ZIP_CODE postcode PLZ city city_name county state region native_country nationality marital-status
        Familienstand education occupation Beruf job_title religion number_of_children wife_age admission_date
        relationship region
    """,
    RoleHint.SENSITIVE: """
        diagnosis Diagnose icd10 main_disease treatment medication hiv_status salary salary_class income
        monthlyIncome Gehalt debt contraceptive_method iinjury criminal_record_2 political_party health
    """,
    RoleHint.NONE: "form housing social finance has_nurs media_exposure x fnlwgt per idle valid",
}
"""Headings in Latin letters."""

OTHERS = {
    RoleHint.IDENTIFIER: """
        ФИО|Имя|Фамилия|Имя пациента|Отчество|Телефон|Адрес|СНИЛС|Прізвище|Ім'я|По батькові|ПІБ|Име|Презиме
        |姓名|患者姓名|名字|身份证号|手机号码|地址|氏名|お名前|患者氏名|フリガナ|住所|電話番号|성명|이름|환자명
        |주민등록번호|주소|الاسم|اسم المريض|الاسم الكامل|رقم الهاتف|العنوان|نام|نام خانوادگی|שם|שם פרטי
        |שם משפחה|טלפון|כתובת|מספר זהות|नाम|पूरा नाम|मोबाइल|पता|ชื่อ|นามสกุล|ชื่อ-นามสกุล|ที่อยู่|เบอร์โทร
        |Ονοματεπώνυμο|Όνομα|Επώνυμο|Διεύθυνση|ΑΜΚΑ|Ad Soyad|Adı|Soyadı|İsim|Adı Soyadı|Họ và tên|Họ tên|Név
        |Vezetéknév|Jméno|Příjmení|Imię i nazwisko|Prezime|Nimi|სახელი|Անուն|ИмяПациента|subject.display
        |subject.patient.name.family|contact.0.name.text|contact[0].name.text|practitioner.name.0.given
        |practitioner/name/0/family|patient__name__family|name.0.family|name_family|author.display
        |generalPractitioner.0.display|subject_display|family_name|familyName|FamilyName|Name at birth
        |children name|user name|subject.reference
    """,
    RoleHint.QUASI_IDENTIFIER: """
        Дата рождения|Пол|Возраст|Город|Стать|Вік|性别|出生日期|年龄|民族|邮编|性別|生年月日|年齢|職業|성별
        |생년월일|나이|직업|تاريخ الميلاد|الجنس|العمر|المدينة|اسم المدينة|מין|גיל|תאריך לידה|עיר|שם העיר|लिंग
        |आयु|जन्म तिथि|เพศ|อายุ|วันเกิด|จังหวัด|Φύλο|Ηλικία|Ημερομηνία γέννησης|Πόλη|Cinsiyet|Yaş|Doğum Tarihi
        |İlçe|Narození|family|children|maritalStatus.coding.0.display|country.name|city_name|employer name
    """,
    RoleHint.SENSITIVE: """
        Диагноз|Заболевание|Доход|Зарплата|Хвороба|诊断|疾病|收入|診断名|病名|年収|진단명|질병|소득|التشخيص
        |المرض|الراتب|אבחנה|מחלה|שכר|रोग|निदान|आय|การวินิจฉัย|รายได้|Διάγνωση|Εισόδημα|Tanı|Hastalık|Maaş
        |drug name
    """,
    RoleHint.NONE: """
        product name|ProductName|company_name|hospital name|name of hospital|managingOrganization.name
        |file name|managingOrganization.display|code.coding.0.display|产品名称|商品名|会社名|상품명|회사명
        |ชื่อบริษัท|Имя файла|اسم المنتج|Название товара|ad_group
    """,
}
"""Headings of several words, in other scripts, and paths; separated by bars."""

HEADINGS = [(hint, word) for hint, text in WORDS.items() for word in text.split()]
HEADINGS += [(hint, heading.strip()) for hint, text in OTHERS.items() for heading in text.split("|")]


@pytest.mark.parametrize(("hint", "name"), HEADINGS)
def test_heading_suggests_its_role(hint: RoleHint, name: str) -> None:
    found, word = hint_role(name)
    assert found is hint
    if hint is RoleHint.IDENTIFIER:
        kind = kind_by_word(word)
        # An address is of kind B, and an identifier here.
        assert kind is None or kind.is_direct or kind.letter == "B"


@pytest.mark.parametrize(
    ("name", "letter"),
    [("ФИО", "A"), ("姓名", "A"), ("전화번호", "D"), ("СНИЛС", "G"), ("subject.display", "A")],
)
def test_headings_in_other_scripts_have_their_kind(name: str, letter: str) -> None:
    kind = kind_by_word(hint_role(name)[1])
    assert kind is not None
    assert kind.letter == letter


def test_more_protected_role_takes_precedence() -> None:
    assert hint_role("income_zip")[0] is RoleHint.QUASI_IDENTIFIER
    assert hint_role("zip_email")[0] is RoleHint.IDENTIFIER


def test_heading_is_split_into_words() -> None:
    assert split_name("dateOfBirth") == ("date", "of", "birth")
    assert split_name("Straße-Nr. 2") == ("strasse", "nr")
    assert split_name("Prénom") == ("prenom",)
    assert split_name("") == ()
