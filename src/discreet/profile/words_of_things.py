"""Words that tell personal names from names of places, firms, trades and things; and what comes with names.

All are small and without accents, as ``person_names.fold`` writes them.
"""

from __future__ import annotations

_PARTICLES_TEXT = """
    von van der den de del della di da do dos das du des la le el al il bin ibn ben bint abu umm ter ten te zu
    zum zur vom af av y e i und and et en o og och ve wa na mac mc o' d' l' 't dela los las san-
"""
PARTICLES = frozenset(_PARTICLES_TEXT.split())
"""Small words within names, which are no sign of their own."""

_TITLES_TEXT = """
    dr doctor doctora docteur dottore prof professor mr mrs ms miss mister sir dame herr frau hr fr
    fraulein dipl-ing med rer nat jur phil pd priv-doz monsieur madame mademoiselle mme mlle me maitre sr
    sra srta don dona senor senora senorita sig sigra signor signora dott dottssa avv ing arch sor dhr
    mevr mw drs ir hra rva pan pani dna dl dr-ing univ nurse schwester pfleger bruder sister brother
    father mother pastor rabbi imam sheikh rev reverend hon judge capt captain sgt lt col bay bayan sayin
    shri smt kumari ustad haji hajji dra prof-dr doc mgr bc judr mudr г-н г-жа д-р проф др пан пані
    господин госпожа доктор профессор κ κα δρ καθ κος κυρια κυριοσ السيد السيدة الدكتور د أ م الأستاذ
    الاستاذ الأستاذة الآنسة المهندس المهندسة الشيخ دكتور دكتورة حاج آقای خانم سرکار جناب مهندس ד"ר דר פרופ
    מר גב גברת श्री श्रीमती श्रीमान डॉ डा सुश्री कुमारी জনাব ডাঃ ডা শ্রী শ্রীমতী શ્રી શ્રીમતી திரு திருமதி
    นาย นาง นางสาว ดร คุณ ดช ดญ
"""
TITLES = frozenset(_TITLES_TEXT.split())
"""Titles and forms of address before a name."""

_STOPS_IN_FRONT_TEXT = """
    new north south east west northern southern eastern western upper lower lake port mount mt fort saint
    st ste sainte san santa santo sao sankt los las cape bad burg villa rio puerto monte playa cerro nueva
    nuevo nova novo novi nizhny veliky place bay isla lago valle val ponte porto pont mont
"""
STOPS_IN_FRONT = frozenset(_STOPS_IN_FRONT_TEXT.split())
"""Words that no name begins with."""

_PLACES = """
    city town village county island islands isle republic united states kingdom province district region
    valley beach hills heights springs creek falls ridge stadt dorf kreis ciudad pueblo street road avenue
    drive boulevard square strasse allee platz weg gasse rue via calle avenida plaza rua central centro
    downtown parkway ranch cove court canyon crossing crescent garden gardens plains manor mission inlet
    harbor harbour forge trail summit isle mews vista villages highway freeway turnpike loop circle
    terrace walk row grove meadow meadows estates plaza parque praia jardim vila condominio strada soseaua
    drumul vicolo contrada airport station north-east north-west america american african asian european
    europe africa asia pacific atlantic республика область край район город улица г ул обл село δημοσ
    νομοσ οδοσ شارع مدينة محافظة रोड नगर जिला จังหวัด อำเภอ ตำบล ถนน เมือง
"""
_FIRMS = """
    inc ltd llc gmbh ag kg kgaa plc corp corporation company co cie sa sas sarl spa srl bv nv oy oyj ab
    asa aps ohg hb kb td ood eood ad eirl cv dd ltda ug ev sro zrt kft bt doo sp zoo ltda sl slu pty pte
    bhd tbk group gruppe groupe grupo gruppo holding holdings bank banco banca banque sparkasse hospital
    hopital ospedale clinic clinique clinica klinik klinikum medical health healthcare university
    universitat universite universidad universita college school schule ecole escuela academy institute
    institut instituto center centre centrum zentrum centro association verein foundation stiftung
    fondation church kirche club hotel restaurant cafe bar store stores shop shops market markt pharmacy
    apotheke airlines airways insurance versicherung assurance services service solutions systems system
    technologies technology tech consulting consultants partners sons bros brothers associates industries
    international global logistics motors energy foods media studio studios labs laboratory labor
    department office agency ministry council committee board union federation society trust fund capital
    ventures hotels network networks software digital data electronics automotive pharma pharmaceuticals
    chemicals construction ооо оао зао ао пао оод еоод ад ет дооел доо тд банк больница клиника
    университет школа шركة شركة مستشفى جامعة بنك مدرسة बैंक अस्पताल विद्यालय लिमिटेड บริษัท โรงพยาบาล
    มหาวิทยาลัย ธนาคาร โรงเรียน
"""
_FUNCTION = """
    of the in for with without to from by at on or not no yes per than other others all any some more less
    mit ohne fur im am auf bei oder nicht keine kein avec sans pour con sin para per non senza не нет без
    на по для из
"""
_TRADES = """
    manager engineer officer director assistant clerk teacher worker technician analyst developer driver
    operator consultant specialist coordinator supervisor executive administrator representative
    accountant designer scientist artist editor writer agent sales marketing senior junior chief head lead
    professional student pupil retired pensioner unemployed self-employed employed craft admin adm exec
    support administration practitioner therapist therapist surgeon physician pharmacist dentist lawyer
    attorney mechanic electrician plumber carpenter builder farmer fisherman cook chef waiter cleaner
    cashier secretary receptionist librarian journalist photographer pilot soldier police firefighter
    guard nurse midwife caregiver researcher professor lecturer trainer coach planner buyer auditor broker
    banker economist statistician programmer architect surveyor geologist chemist physicist biologist
    psychologist teacher trainee intern apprentice helper labourer laborer inspector adviser advisor
    counsellor counselor producer actor musician dancer singer registered certified licensed general
    public private federal local state human resources financial quality customer product project business
    chartered industrial commercial civil clinical research production maker painter tailor baker butcher
    dealer merchandiser retail leiter ingenieur ingenieurin angestellter angestellte beamter beamtin
    arbeiter lehrer lehrerin rentner rentnerin schuler kaufmann kauffrau techniker arzt arztin
    krankenschwester verkaufer verkauferin ingeniero medico maestro profesor abogado enfermera ouvrier
    infirmier infirmiere medecin enseignant cadre менеджер инженер врач учитель водитель директор рабочий
    бухгалтер студент пенсионер медсестра продавец مهندس طبيب معلم مدير محاسب ممرض طالب سائق متقاعد
    इंजीनियर डॉक्टर शिक्षक छात्र किसान मजदूर
"""
_MATTERS = """
    disease syndrome disorder cancer carcinoma infection fever pain injury fracture failure attack acute
    chronic diabetes asthma pneumonia hypertension heart lung liver kidney blood skin breast brain anemia
    influenza flu covid covid-19 allergy arthritis depression anxiety obesity stroke tumor tumour
    krankheit infarkt krebs tablet capsule injection cream vitamin acid oil soap shampoo wine beer juice
    milk bread cheese chicken beef fish rice pasta soup coffee tea chocolate sugar salt pepper apple
    orange lemon cup plate bottle box bag chair table desk lamp phone laptop computer keyboard mouse
    monitor printer paper pen pencil book shirt shoes jacket dress hat socks watch ring bike car truck bus
    train plane boat wireless portable electric leather wooden plastic steel cotton metal gold silver
    black white red green blue yellow brown grey gray pink purple orange male female man woman boy girl
    single married divorced widowed separated husband wife child never spouse high low medium small large
    good bad fair poor excellent old young first second third primary secondary grade class level type
    group section unit ward room floor building team shift night morning evening day monday tuesday
    wednesday thursday friday saturday sunday january february march july september october november
    december full part time temporary permanent contract active inactive pending closed open true false
    christian catholic protestant muslim jewish buddhist hindu orthodox evangelical lutheran high-school
    bachelor master doctorate some-college diploma degree edition version series pro plus mini ultra
    premium deluxe classic standard basic set kit pack
"""
STOPS = frozenset(f"{_PLACES} {_FIRMS} {_FUNCTION}".split())
"""Words that no name has."""

THINGS = frozenset(f"{_TRADES} {_MATTERS}".split())
"""Words for trades and things: no name has them but behind a given name (``Anna Brown``)."""

EAST_ASIAN_ENDINGS = (
    *(
        "市",
        "省",
        "县",
        "縣",
        "区",
        "區",
        "州",
        "族",
        "病",
        "炎",
        "症",
        "癌",
        "师",
        "師",
        "员",
        "員",
        "局",
        "院",
        "所",
        "部",
        "科",
    ),
    *(
        "公司",
        "大学",
        "大學",
        "中学",
        "小学",
        "学校",
        "高中",
        "初中",
        "本科",
        "色",
        "路",
        "街",
        "村",
        "镇",
        "鎮",
        "国",
        "國",
        "人",
        "业",
        "教",
    ),
    *(
        "県",
        "府",
        "都",
        "道",
        "町",
        "線",
        "駅",
        "会社",
        "銀行",
        "病院",
        "店",
        "業",
        "職",
        "者",
        "士",
        "工",
        "生",
        "性",
        "婚",
        "卒",
        "血压",
        "血圧",
    ),
    *(
        "시",
        "도",
        "군",
        "구",
        "동",
        "읍",
        "면",
        "병",
        "염",
        "암",
        "증",
        "원",
        "사",
        "학교",
        "대학",
        "회사",
        "은행",
        "병원",
        "국",
        "업",
        "직",
        "교",
        "혈압",
        "졸",
    ),
)
"""Endings of words for places, firms, trades, diseases and the like."""
