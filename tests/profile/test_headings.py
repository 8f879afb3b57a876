"""Headings in other scripts and languages, and headings that are paths of nested records."""

from __future__ import annotations

import pytest

from discreet.profile.heading_hints import RoleHint, hint_role
from discreet.profile.roles import kind_by_word

IDENTIFIERS = """
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
"""
QUASI_IDENTIFIERS = """
    Дата рождения|Пол|Возраст|Город|Стать|Вік|性别|出生日期|年龄|民族|邮编|性別|生年月日|年齢|職業|성별
    |생년월일|나이|직업|تاريخ الميلاد|الجنس|العمر|المدينة|اسم المدينة|מין|גיל|תאריך לידה|עיר|שם העיר|लिंग
    |आयु|जन्म तिथि|เพศ|อายุ|วันเกิด|จังหวัด|Φύλο|Ηλικία|Ημερομηνία γέννησης|Πόλη|Cinsiyet|Yaş|Doğum Tarihi
    |İlçe|Narození|family|children|maritalStatus.coding.0.display|country.name|city_name|employer name
"""
SENSITIVE = """
    Диагноз|Заболевание|Доход|Зарплата|Хвороба|诊断|疾病|收入|診断名|病名|年収|진단명|질병|소득|التشخيص
    |المرض|الراتب|אבחנה|מחלה|שכר|रोग|निदान|आय|การวินิจฉัย|รายได้|Διάγνωση|Εισόδημα|Tanı|Hastalık|Maaş
    |drug name
"""
NOTHING = """
    product name|ProductName|company_name|hospital name|name of hospital|managingOrganization.name
    |file name|managingOrganization.display|code.coding.0.display|产品名称|商品名|会社名|상품명|회사명
    |ชื่อบริษัท|Имя файла|اسم المنتج|Название товара|ad_group
"""


def headings(text: str) -> list[str]:
    return [heading.strip() for heading in text.split("|")]


@pytest.mark.parametrize("name", headings(IDENTIFIERS))
def test_headings_of_identifiers(name: str) -> None:
    hint, word = hint_role(name)
    assert hint is RoleHint.IDENTIFIER
    kind = kind_by_word(word)
    assert (
        kind is None or kind.is_direct or kind.letter == "B"
    )  # an address is of kind B, and an identifier here


@pytest.mark.parametrize("name", headings(QUASI_IDENTIFIERS))
def test_headings_of_quasi_identifiers(name: str) -> None:
    assert hint_role(name)[0] is RoleHint.QUASI_IDENTIFIER


@pytest.mark.parametrize("name", headings(SENSITIVE))
def test_headings_of_sensitive_attributes(name: str) -> None:
    assert hint_role(name)[0] is RoleHint.SENSITIVE


@pytest.mark.parametrize("name", headings(NOTHING))
def test_headings_of_things_with_names(name: str) -> None:
    assert hint_role(name)[0] is RoleHint.NONE


@pytest.mark.parametrize(
    ("name", "letter"),
    [("ФИО", "A"), ("姓名", "A"), ("전화번호", "D"), ("СНИЛС", "G"), ("subject.display", "A")],
)
def test_the_kind_of_a_heading_in_another_script(name: str, letter: str) -> None:
    kind = kind_by_word(hint_role(name)[1])
    assert kind is not None
    assert kind.letter == letter
