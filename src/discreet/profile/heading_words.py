"""Words of column headings by language and script, and their lookup in a heading.

Identity documents and census forms print the same labels everywhere; these are the headings of registers and
exports, each list with its source. A word with ``*`` matches every word that begins with it; words of scripts
without blanks are found inside a heading, others as whole words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache


@dataclass(frozen=True)
class HeadingWords:
    """Heading words of one language.

    ``persons`` are words for names of persons and their parts, ``identifiers`` other direct identifiers by
    the letter of their kind (``profile.heading_hints``), ``quasi_identifying`` quasi-identifiers, ``places``
    and ``dates`` those of kinds B and C, and ``private`` sensitive matters. ``inside`` is true for scripts
    without blanks between words.
    """

    language: str
    source: str
    persons: str
    identifiers: dict[str, str]
    quasi_identifying: str
    places: str
    dates: str
    private: str
    inside: bool = False


LANGUAGES = (
    HeadingWords(
        "Russian",
        "passport of the citizen (form 1P), law 152-FZ, census form L of Rosstat",
        "фио имя имени имена фамили* отчеств* пациент* клиент* сотрудник* заявител* получател* родител*",
        {
            "D": "телефон* тел моб мобильн*",
            "F": "почта email имейл",
            "G": "снилс инн иин",
            "I": "полис* омс",
            "K": "паспорт* удостоверени*",
            "J": "счет счета",
            "A": "адрес*",
            "R": "идентификатор* логин",
        },
        "пол возраст* национальност* гражданств* образовани* профессия профессии должност* "
        "специальност* религи* "
        "занятост* семейн* брак* язык* рост вес",
        "город* район* област* край регион* индекс село поселок улица страна страны место",
        "дата даты рождени* год год* месяц смерт* поступлени* выписк*",
        "диагноз* болезн* заболевани* лечени* препарат* доход* зарплат* оклад* заработ* инвалидност* "
        "судимост* анализ*",
    ),
    HeadingWords(
        "Ukrainian",
        "passport of the citizen, census form 2C of the State Statistics Service",
        "піб ім'я імені імена прізвищ* батькові пацієнт* клієнт* заявник* працівник* отримувач*",
        {
            "D": "телефон*",
            "F": "пошта",
            "G": "рнокпп іпн",
            "K": "паспорт*",
            "A": "адрес*",
            "R": "ідентифікатор*",
        },
        "стать вік національніст* громадянств* освіт* професія посада релігі* сімейн* шлюб*",
        "місто міста район* област* індекс село вулиц* країна",
        "дата народженн* рік місяць",
        "діагноз* хвороб* захворюванн* лікуванн* дохід доходу зарплат* інвалідніст*",
    ),
    HeadingWords(
        "Bulgarian, Serbian, Macedonian",
        "identity cards of the countries",
        "име имена фамилия презиме бащино пациент* родител*",
        {"D": "телефон*", "G": "егн јмбг ембг", "K": "паспорт* пасош", "A": "адрес*"},
        "пол възраст старост гражданство държављанство образование професия занимање",
        "град община општина област",
        "дата датум раждане рођења година",
        "диагноза дијагноза болест доход приход заплата плата",
    ),
    HeadingWords(
        "Greek",
        "identity card (Υ.Α. 8200/2018), census form of ELSTAT",
        "ονομ* επωνυμ* ονοματεπωνυμ* πατρωνυμ* μητρωνυμ* ασθεν* πελατ* υπαλληλ* δικαιουχ*",
        {
            "D": "τηλεφων* κινητο",
            "F": "ηλεκτρονικο email",
            "G": "αμκα αφμ",
            "K": "διαβατηρι* ταυτοτητ*",
            "A": "διευθυνσ*",
            "R": "κωδικος",
        },
        "φυλο ηλικια ηλικιας εθνικοτητα ιθαγενεια υπηκοοτητα επαγγελμα εκπαιδευση μορφωση θρησκεια "
        "οικογενειακη γλωσσα",
        "πολη δημος νομος περιφερεια χωρα τκ οδος ταχυδρομικος",
        "ημερομηνια γεννησης ετος μηνας θανατου εισαγωγης εξοδου",
        "διαγνωσ* ασθενεια νοσος θεραπεια φαρμακο εισοδημα μισθος αναπηρια",
    ),
    HeadingWords(
        "Arabic",
        "identity cards of Egypt, Saudi Arabia and Jordan, census form of CAPMAS",
        "اسم اسمه الاسم الأسماء اسماء اللقب لقب الكنية كنية العائلة المريض المريضة الموظف العميل المستفيد",
        {
            "D": "هاتف جوال موبايل تليفون",
            "F": "بريد ايميل",
            "G": "قومي",
            "K": "جواز هوية رخصة",
            "A": "عنوان",
            "J": "حساب ايبان",
            "R": "معرف",
        },
        "جنس نوع عمر سن جنسية مهنة وظيفة تعليم مؤهل ديانة دين اجتماعية زوجية لغة طول وزن",
        "مدينة محافظة منطقة دولة بلد حي قرية شارع رمزبريدي",
        "تاريخ ميلاد ولادة سنة شهر وفاة دخول خروج",
        "تشخيص مرض علاج دواء دخل راتب مرتب اعاقة",
    ),
    HeadingWords(
        "Persian, Urdu",
        "national identity cards of Iran (کارت ملی) and Pakistan (CNIC)",
        "نام خانوادگی نام‌خانوادگی بیمار مریض ولدیت",
        {"D": "تلفن موبایل فون", "G": "کدملی شناختی", "K": "پاسپورت گذرنامه شناسنامه", "A": "آدرس نشانی پتہ"},
        "جنسیت سن عمر ملیت شغل تحصیلات مذهب مذہب تاهل پیشہ تعلیم",
        "شهر استان کشور روستا شہر ضلع صوبہ",
        "تولد پیدائش سال ماه",
        "تشخیص بیماری درمان دارو درآمد حقوق آمدنی تنخواہ",
    ),
    HeadingWords(
        "Hebrew",
        "identity card (teudat zehut), census form of the Central Bureau of Statistics",
        "שם שמות פרטי משפחה מטופל מטופלת חולה לקוח עובד הורה אפוטרופוס",
        {
            "D": "טלפון נייד פלאפון",
            "F": "דוא אימייל מייל",
            "G": "זהות תז",
            "K": "דרכון רישיון",
            "A": "כתובת",
            "J": "חשבון",
        },
        "מין גיל מגדר אזרחות לאום השכלה מקצוע עיסוק דת מצב שפה",
        "עיר יישוב מחוז מיקוד רחוב ארץ מדינה",
        "תאריך לידה שנה שנת חודש פטירה",
        "אבחנה מחלה טיפול תרופה הכנסה שכר משכורת נכות",
    ),
    HeadingWords(
        "Hindi, Marathi, Nepali",
        "Aadhaar card, household schedule of India's 2011 Census",
        "नाम पूरानाम उपनाम कुलनाम पिता माता पति मरीज रोगी लाभार्थी ग्राहक कर्मचारी",
        {
            "D": "फोन मोबाइल दूरभाष",
            "F": "ईमेल",
            "G": "आधार पैन",
            "K": "पासपोर्ट",
            "A": "पता",
            "J": "खाता",
        },
        "लिंग आयु उम्र धर्म जाति शिक्षा व्यवसाय पेशा वैवाहिक राष्ट्रीयता भाषा",
        "शहर गाँव गांव जिला राज्य पिन देश",
        "जन्म तिथि तारीख वर्ष मृत्यु",
        "निदान रोग बीमारी इलाज उपचार दवा आय वेतन विकलांगता",
    ),
    HeadingWords(
        "Bengali, Tamil, Telugu",
        "national identity card of Bangladesh, household schedule of India's 2011 Census",
        "নাম পিতা মাতা রোগী பெயர் పేరు",
        {"D": "ফোন মোবাইল தொலைபேசி ఫోన్", "A": "ঠিকানা முகவரி చిరునామా"},
        "লিঙ্গ বয়স ধর্ম পেশা பாலினம் வயது லింగం వయస్సు",
        "জেলা শহর গ্রাম மாவட்டம் నగరం",
        "জন্ম তারিখ பிறந்த தேதி పుట్టిన తేదీ",
        "রোগ আয় வருமானம் நோய் వ్యాధి ఆదాయం",
    ),
    HeadingWords(
        "Chinese",
        "resident identity card (GA 490), census form of the National Bureau of Statistics, TW identity card",
        "姓名 姓氏 名字 患者 病人姓名 联系人 聯絡人 收件人 监护人 監護人 经办人 負責人 负责人 父亲 母亲 "
        "父母 家长 家長 受益人 受益者 全名 昵称",
        {
            "D": "电话 電話 手机 手機 联系方式",
            "F": "邮箱 信箱 电子邮件 電子郵件",
            "G": "身份证 身分證 证件号 證件號 公民身份号码",
            "H": "病历号 病歷號 住院号",
            "I": "医保卡 醫保",
            "K": "护照 護照",
            "A": "地址 住址",
            "J": "账号 帳號 银行卡 銀行卡",
            "R": "编号 編號 用户名 學號 学号",
        },
        "性别 性別 年龄 年齡 民族 国籍 國籍 婚姻 学历 學歷 教育 职业 職業 宗教 政治面貌 身高 体重 體重 "
        "籍贯 籍貫",
        "城市 省份 地区 地區 区县 邮编 郵遞區號 邮政编码 户籍 戶籍 街道 出生地",
        "出生 生日 日期 年月日 入院 出院 死亡",
        "诊断 診斷 疾病 病名 治疗 治療 药品 藥品 用药 收入 工资 薪资 薪資 薪水 病史 残疾",
        inside=True,
    ),
    HeadingWords(
        "Japanese",
        "certificate of residence (住民票), census form of the Statistics Bureau",
        "氏名 名前 姓名 苗字 名字 フリガナ ふりがな フルネーム 患者名 担当者 保護者 受取人 連絡先 "
        "顧客名 申請者 続柄氏名",
        {
            "D": "電話 携帯",
            "F": "メール",
            "G": "マイナンバー 個人番号",
            "I": "保険証 被保険者番号",
            "K": "旅券 パスポート 免許証",
            "A": "住所",
            "J": "口座",
            "R": "患者番号 会員番号 社員番号 学籍番号 患者id",
        },
        "性別 年齢 国籍 職業 学歴 最終学歴 配偶 婚姻 宗教 続柄 身長 体重",
        "市区町村 都道府県 郵便番号 出身地 本籍",
        "生年月日 誕生日 日付 年月日 入院日 退院日 死亡日",
        "診断 病名 疾患 傷病 治療 処方 薬剤 年収 収入 給与 所得 既往歴 障害",
        inside=True,
    ),
    HeadingWords(
        "Korean",
        "resident registration card, census form of Statistics Korea",
        "성명 이름 성함 환자명 고객명 회원명 직원명 학생명 보호자 담당자 수령인 수익자 신청인 대표자",
        {
            "D": "전화 휴대폰 연락처 핸드폰",
            "F": "이메일 메일",
            "G": "주민등록번호 주민번호",
            "K": "여권",
            "A": "주소",
            "J": "계좌",
            "R": "환자번호 회원번호 사번 학번 아이디",
        },
        "성별 나이 연령 국적 직업 학력 종교 결혼 혼인 키 몸무게",
        "도시 시군구 우편번호 지역 출생지 거주지",
        "생년월일 생일 출생 날짜 일자 사망일 입원일 퇴원일",
        "진단 질병 질환 병명 치료 처방 소득 수입 연봉 급여 월급 장애",
        inside=True,
    ),
    HeadingWords(
        "Thai",
        "national identity card, census form of the National Statistical Office",
        "ชื่อ นามสกุล ชื่อสกุล ชื่อเล่น ผู้ป่วย ผู้รับ ผู้ปกครอง ลูกค้า พนักงาน",
        {
            "D": "โทรศัพท์ เบอร์โทร มือถือ",
            "F": "อีเมล",
            "G": "เลขประจำตัวประชาชน บัตรประชาชน",
            "K": "หนังสือเดินทาง",
            "A": "ที่อยู่",
            "J": "บัญชี",
        },
        "เพศ อายุ สัญชาติ เชื้อชาติ ศาสนา อาชีพ การศึกษา สถานภาพ",
        "จังหวัด อำเภอ ตำบล เมือง รหัสไปรษณีย์",
        "วันเกิด เกิด วันที่ เสียชีวิต",
        "วินิจฉัย โรค การรักษา ยา รายได้ เงินเดือน พิการ",
        inside=True,
    ),
    HeadingWords(
        "Turkish, Azerbaijani",
        "identity card (T.C. Kimlik Karti), address-based register of TURKSTAT",
        "adi soyad soyadi adsoyad adisoyadi isim isimler soyisim soyismi hastanin hastaadi musteri "
        "calisan veli ataadi",
        {
            "D": "telefonu ceptelefonu gsm",
            "F": "eposta",
            "G": "tckn tckimlik kimlik",
            "K": "pasaport ehliyet",
            "A": "adresi",
        },
        "cinsiyet cinsiyeti yas yasi uyruk uyrugu meslek egitim ogrenim din medeni dil boy kilo cinsi "
        "yasi milliyet",
        "sehir il ilce mahalle ulke posta postakodu",
        "dogum tarih tarihi yil yili olum",
        "tani teshis hastalik tedavi ilac gelir maas ucret engel",
    ),
    HeadingWords(
        "Other languages in Latin letters",
        "labels of the identity cards in the Public Register of Authentic Documents (PRADO) of the Council",
        "jmeno prijmeni krestni meno priezvisko nev vezeteknev keresztnev utonev nume prenume ime "
        "prezime priimek "
        "emri mbiemri nimi etunimi sukunimi perekonnanimi eesnimi vardas pavarde vards uzvards nafn "
        "hoten vaten "
        "nama lengkap isem jina pangalan apelyido ainm sloinne enw cyfenw izena abizena cognoms "
        "llinatges kunyomad "
        "imiona nazwiska tilnavn mellemnavn mellomnavn etternavn voornamen roepnaam apelido prenoms",
        {"G": "rodne cislo henkilotunnus isikukood oib emso asmens kodas kennitala fodselsnummer cprnr"},
        "pohlavi pohlavie vek kor nem varsta spol starost sukupuoli ika lytis amzius gioitinh tuoi "
        "jenis kelamin umur "
        "plec wiek alder",
        "mesto obec varos iranyitoszam oras judet grad opcina kaupunki linn miestas thanhpho kota "
        "miasto wojewodztwo",
        "narozeni narodenia szuletesi nasterii rodenja rojstva syntymaaika sunniaeg gimimo ngaysinh "
        "lahir urodzenia",
        "diagnoza diagnozis betegseg boala bolest prijem jovedelem venit dohodek tulot pajamos diagnosa "
        "penghasilan",
    ),
    HeadingWords(
        "Georgian, Armenian, Amharic",
        "identity cards of the countries",
        "სახელი გვარი անուն ազգանուն հայրանուն ስም የአባት",
        {"A": "მისამართი հասցե አድራሻ", "D": "ტელეფონი հեռախոս ስልክ"},
        "სქესი ასაკი սեռ տարիք ጾታ ዕድሜ",
        "ქალაქი քաղաք ከተማ",
        "დაბადების ծննդյան የትውልድ",
        "დიაგნოზი ախտորոշում ምርመራ",
    ),
)
"""Languages; first those with lists for every kind of heading."""

PERSON_WORDS = """
    staff worker workers parent parents mother father mom dad spouse husband wife partner kin guardian
    guardians carer caregiver beneficiary beneficiaries owner owners author authors doctor physician
    practitioner nurse teacher therapist surgeon dentist midwife agent representative witness applicant
    claimant tenant landlord holder policyholder signatory attendee attending provider counselor
    counsellor caseworker supervisor manager lawyer judge officer interviewer passenger driver player
    candidate donor recipient sender performer recorder asserter requester informant assignee reporter
    reviewer approver creator editor operator contact person persons people individual subscriber payee
    payer prescriber examiner investigator instructor lecturer tutor coach referee resident inmate suspect
    victim offender defendant plaintiff user username employee member by attn display who whom sibling son
    daughter child children relative relatives nominee heir mutter vater eltern elternteil ehefrau ehemann
    partnerin betreuer betreuerin arzt arztin behandler lehrer lehrerin sachbearbeiter vertreter zeuge
    inhaber eigentumer begunstigter angehorige angehoriger kontaktperson ansprechpartner bearbeiter
    erziehungsberechtigte erfasst von mitarbeiter pfleger mere pere conjoint conjointe medecin infirmier
    infirmiere enseignant beneficiaire tuteur proprietaire temoin parents auteur responsable madre padre
    conyuge esposo esposa medico enfermera maestro tutor beneficiario propietario testigo autor
    responsable encargado pai mae esposa paciente beneficiario responsavel medico genitore madre moglie
    marito dottore insegnante moeder vader ouder ouders arts leraar eigenaar begunstigde matka ojciec
    lekarz nauczyciel opiekun anya apa szulo orvos врач врача родитель родители мать отец опекун учитель
    владелец автор получатель лікар батьки γιατρος μητερα πατερας γονεασ طبيب الطبيب والد والدة ام اب معلم
    רופא אם אב הורה מורה डॉक्टर माता पिता
"""
"""Heading words of columns that may contain persons; below them fewer signs among the values suffice."""

THING_WORDS_IN_HEADINGS = """
    product item article company organization organisation org hospital clinic practice facility
    department ward unit drug medicine medication brand model file filename column variable project team
    school university college course class test lab laboratory disease diagnosis treatment procedure event
    category group type device store shop bank station channel campaign app site domain host server table
    field plan program programme service manufacturer firm business firma unternehmen artikel produkt
    abteilung krankenhaus klinik schule verein empresa producto entreprise produit societe azienda
    prodotto song movie film book game species plant animal segment section region street building room
    location venue vessel ship airport airline hotel restaurant dataset layer metric indicator question
    activity industry sector occupation job position title role 公司 企业 企業 产品 產品 商品 药品 藥品
    医院 醫院 学校 學校 部门 部門 项目 文件 科室 城市 会社 製品 病院 部署 施設 薬剤 회사 상품 제품 병원
    학교 부서 약품 บริษัท สินค้า โรงพยาบาล โรงเรียน ยา แผนก продукт* товар* компани* организац* больниц*
    отдел* школ* препарат* файл* προϊον* εταιρεια νοσοκομειο σχολειο منتج شركة مستشفى مدرسة قسم دواء מוצר
    חברה מחלקה תרופה उत्पाद कंपनी अस्पताल विद्यालय विभाग urun sirket hastane okul bolum ilac
"""
"""Words for things that have names of their own: ``product name`` is not a person's name."""

GENERIC_NAME_WORDS = (
    "имя име імя ονομ* اسم الاسم نام שם नाम নাম ชื่อ 名前 名字 이름 nume ime nev jmeno meno isim adi nimi nama"
)
"""Words for a name that things also have; next to a word for a thing they do not denote a person."""


_ALIKE = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ی": "ي", "ک": "ك"})
_ALIKE |= str.maketrans({"ى": "ي", "ة": "ه", "ہ": "ه", "ھ": "ه", "ς": "σ", "ə": "a", "\u200c": " "})
_APOSTROPHE = re.compile(r"(?<=[^\W\d_a-z])['’ʼ](?=[^\W\d_a-z])")
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_ARTICLES = {"ال": 5, "ה": 4}
_CACHED_NAMES = 4096  # each name of a wide table is split once per built-in hierarchy

PERSONS, QUASI_IDENTIFYING, PRIVATE = "persons", "others know", "private"


@dataclass(frozen=True)
class _WordList:
    """Words of one meaning: whole words, beginnings of words, and words that may occur inside a text."""

    words: frozenset[str]
    stems: tuple[str, ...]
    inside: tuple[str, ...]

    def first_in(self, parts: Sequence[str]) -> str:
        """Return the first word of a heading that is in the list, or ""."""
        return next((part for part in parts if self._has(part)), "")

    def _has(self, part: str) -> bool:
        articles = (a for a, least in _ARTICLES.items() if part.startswith(a) and len(part) >= least)
        forms = [part, *(part.removeprefix(article) for article in articles)]
        if any(form in self.words or form.startswith(self.stems) for form in forms):
            return True
        return bool(_UNSPACED.search(part)) and any(word in part for word in self.inside)


@lru_cache(_CACHED_NAMES)
def split_name(name: str) -> tuple[str, ...]:
    """Split a column's name at signs, digits and capitals into words, lower case and without accents.

    >>> split_name("Straße-Nr. 2"), split_name("dateOfBirth"), split_name("Prénom")
    (('strasse', 'nr'), ('date', 'of', 'birth'), ('prenom',))
    >>> split_name("ИмяПациента"), split_name("Doğum Tarihi")
    (('имя', 'пациента'), ('dogum', 'tarihi'))
    """
    spaced = "".join(
        f" {c}" if c.isupper() and before.islower() else c
        for before, c in zip(" " + name, name, strict=False)
    )
    return tuple("".join(c if _is_letter(c) else " " for c in fold_heading(spaced)).split())


def fold_heading(text: str) -> str:
    """Fold a text to lower case without accents, and variants of a letter to one of them."""
    plain = text.casefold()
    if plain.isascii():
        return plain
    plain = _APOSTROPHE.sub("", plain)
    base_letters = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    return unicodedata.normalize("NFC", base_letters).translate(_ALIKE)


def _is_letter(character: str) -> bool:
    """Return whether a character belongs to a word; vowel signs of Indic and Thai scripts have category M."""
    return character.isalpha() or unicodedata.category(character).startswith("M")


@dataclass(frozen=True)
class MatchedWord:
    """A word of a heading and its meaning (``persons``, ``others know``, ``private`` or a kind's letter)."""

    meaning: str
    word: str


def match_words(parts: Sequence[str]) -> dict[str, str]:
    """Return the listed words of a heading by meaning.

    The meanings are ``PERSONS``, a letter of the kinds, ``QUASI_IDENTIFYING`` and ``PRIVATE``. A word for the
    name of anything (``имя файла``) does not denote a person next to a word for a thing.
    """
    result = {meaning: word for meaning, words in _vocabulary().items() if (word := words.first_in(parts))}
    if (
        PERSONS in result
        and _generic_name_words().first_in((result[PERSONS],))
        and any(map(is_thing_word, parts))
    ):
        del result[PERSONS]
    return result


def letter_by_foreign_word(word: str) -> str:
    """Return the letter of the kind that a listed word denotes, or ""."""
    found = match_words((word,))
    letters = [meaning for meaning in found if len(meaning) == 1 and meaning not in "BC"]
    letters += ["A"] if PERSONS in found else []
    letters += [meaning for meaning in found if meaning in ("B", "C")]
    return letters[0] if letters else ""


def may_mean_person(name: str) -> bool:
    """Return whether a heading may denote persons: ``beneficiary``, ``created_by``, ``врач``.

    >>> may_mean_person("created_by"), may_mean_person("Begünstigter"), may_mean_person("weight")
    (True, True, False)
    """
    parts = split_name(name)
    return bool(_person_words().first_in(parts) or match_words(parts).get(PERSONS))


def is_person_word(part: str) -> bool:
    """Return whether a word of a heading denotes a person."""
    return bool(_person_words().first_in((part,)))


def is_thing_word(part: str) -> bool:
    """Return whether a word of a heading denotes a thing that has a name: ``product``, ``company``."""
    return bool(_thing_words().first_in((part,)))


@cache
def _person_words() -> _WordList:
    return _compile_words([(PERSON_WORDS, False)])


@cache
def _generic_name_words() -> _WordList:
    return _compile_words([(GENERIC_NAME_WORDS, True)])


@cache
def _thing_words() -> _WordList:
    return _compile_words([(THING_WORDS_IN_HEADINGS, True)])


@cache
def _vocabulary() -> dict[str, _WordList]:
    texts: dict[str, list[tuple[str, bool]]] = {}
    for language in LANGUAGES:
        meanings = {PERSONS: language.persons, **language.identifiers}
        meanings |= {"B": language.places, "C": language.dates}
        meanings |= {QUASI_IDENTIFYING: language.quasi_identifying, PRIVATE: language.private}
        for meaning, text in meanings.items():
            texts.setdefault(meaning, []).append((text, language.inside))
    return {meaning: _compile_words(of_each) for meaning, of_each in texts.items()}


def _compile_words(texts: Iterable[tuple[str, bool]]) -> _WordList:
    plain_words: set[str] = set()
    stems: list[str] = []
    inside: list[str] = []
    for text, unspaced in texts:
        for written in text.split():
            word = fold_heading(written).replace(" ", "")
            if word.endswith("*"):
                stems.append(word[:-1])
                continue
            plain_words.add(word)
            if unspaced and len(word) > 1 and _UNSPACED.search(word):
                inside.append(word)
    return _WordList(frozenset(plain_words), tuple(stems), tuple(inside))
