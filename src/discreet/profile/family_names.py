"""Family names and their endings, and words that are not names: titles, particles, places, firms, trades.

Each list has its source. Words are lower case and without accents, as ``person_names.fold_name`` writes them.
"""

from __future__ import annotations

import re
from functools import cache

FAMILY_NAMES = {
    "English; census of 2010 in the United States, Office for National Statistics": """
        smith johnson williams jones davis wilson anderson thomas moore martin thompson harris clark lewis
        robinson allen hernandez adams nelson campbell mitchell roberts phillips evans collins stewart morris
        murphy rogers reed morgan howard richardson watson brooks sanders bennett hughes foster jenkins
        russell griffin hayes simmons patterson graham reynolds hamilton sullivan wallace woods cole owens
        kennedy ellis harrison gibson mcdonald marshall freeman wells webb simpson stevens crawford
        henderson coleman powell perry patel hill edwards turner walker wright hall davies o'brien o'connor
        o'neill byrne kelly ryan doyle mccarthy gallagher doherty macdonald fraser robertson mackenzie
        griffiths pritchard begum ahmed khan hussain singh kaur
    """,
    "German; telephone directories, and Bundesamt fur Statistik (CH)": """
        muller mueller schmidt schneider fischer meyer weber wagner becker schulz hoffmann schafer koch bauer
        richter klein schroder schroeder neumann schwarz zimmermann braun kruger krueger hofmann hartmann
        lange schmitt werner schmitz krause meier lehmann schmid schulze maier kohler herrmann konig walter
        mayer huber kaiser fuchs peters scholz moller weiss jung hahn schubert vogel friedrich keller gunther
        berger winkler roth beck lorenz baumann franke albrecht schuster simon ludwig bohm winter kraus
        schumacher kramer vogt stein jager otto sommer gross seidel heinrich brandt haas schreiber graf
        dietrich ziegler kuhn engel pohl horn busch bergmann thomas voigt sauer arnold wolff pfeiffer
        gruber steiner egger moser wimmer brunner ammann gerber frei graf buhler
    """,
    "French; Institut national de la statistique et des etudes economiques": """
        bernard dubois durand moreau laurent lefebvre lefevre leroy roux morel fournier girard bonnet dupont
        lambert fontaine rousseau vincent muller faure mercier blanc guerin boyer garnier chevalier
        legrand gauthier garcia perrin robin clement morin henry roussel mathieu gautier masson marchand
        duval denis dumont lemaire noel meyer dufour meunier brun blanchard giraud joly riviere lucas brunet
        gaillard barbier arnaud martinez gerard roche renard schmitt colin vidal caron picard roger fabre
        aubert lemoine renaud dumas lacroix olivier bourgeois benoit rey leclerc payet rolland leclercq
        guillaume lecomte lopez jean dupuy guillot hubert carpentier tremblay gagnon bouchard
    """,
    "Spanish, Portuguese, Italian; INE (ES, PT), IBGE (BR), ISTAT": """
        garcia rodriguez gonzalez fernandez lopez martinez sanchez perez gomez jimenez ruiz hernandez diaz
        moreno munoz alvarez romero alonso gutierrez navarro torres dominguez vazquez ramos gil ramirez
        serrano molina morales suarez ortega delgado castro ortiz rubio marin sanz nunez iglesias medina
        garrido cortes castillo lozano guerrero cano prieto mendez calvo gallego vidal herrera marquez
        flores cabrera campos vega fuentes diez carrasco caballero nieto reyes aguilar pascual santana
        rojas mendoza vargas guzman salazar cardenas espinoza valencia rios contreras
        silva santos oliveira souza sousa pereira ferreira alves ribeiro rodrigues gomes lima araujo carvalho
        fernandes almeida costa lopes soares martins barbosa rocha dias nascimento moreira nunes marques
        machado mendes freitas cardoso ramos goncalves santana teixeira pinto monteiro moura cunha
        rossi russo ferrari esposito bianchi romano colombo ricci marino greco bruno gallo conti mancini
        giordano rizzo lombardi moretti barbieri fontana santoro mariani rinaldi caruso ferrara galli martini
        leone longo gentile martinelli vitale lombardo serra coppola marchetti parisi villa conte ferraro
        ferri fabbri bianco marini grasso valentini messina sala gatti pellegrini palumbo sanna farina
    """,
    "Dutch, Nordic, Baltic; Meertens Instituut, Statbel, national statistical offices": """
        jansen janssen bakker visser smit meijer mulder bos vos dijkstra dekker brouwer peters hendriks
        vermeulen dijk boer vries hoekstra willems jacobs maes mertens claes goossens wouters desmet
        andersson johansson karlsson nilsson eriksson larsson olsson persson svensson gustafsson lindberg
        lindstrom lindqvist bergstrom lundberg hansen johansen olsen larsen andersen pedersen nilsen
        kristiansen jensen nielsen christensen rasmussen sorensen petersen madsen korhonen virtanen makinen
        nieminen makela hamalainen laine heikkinen koskinen tamm saar sepp berzins kalnins ozols
    """,
    "Slavic, Hungarian, Romanian; PESEL, national statistical offices": """
        nowak kowalski wisniewski wojcik kowalczyk kaminski lewandowski zielinski szymanski wozniak dabrowski
        kozlowski jankowski mazur kwiatkowski krawczyk piotrowski grabowski zajac pawlak krol wrobel
        novak novotny dvorak cerny prochazka kucera vesely horak nemec marek pospisil hajek jelinek horvath
        kovac kovacs varga toth nagy balogh molnar farkas szabo kiss papp juhasz simon szilagyi meszaros
        lakatos takacs racz fekete olah mezei popescu ionescu popa pop radu dumitru stan stoica gheorghe
        rusu munteanu matei horvat kovacevic babic maric juric jovanovic petrovic nikolic markovic krasniqi
        gashi hoxha berisha shala ivanov petrov sidorov smirnov kuznetsov popov sokolov lebedev kozlov
        novikov morozov volkov fedorov shevchenko kovalenko bondarenko tkachenko kravchenko melnyk boyko
    """,
    "Turkish, Arabic, Persian, South Asian, Japanese, African, in Latin letters; national registers": """
        yilmaz kaya demir celik sahin yildiz yildirim ozturk aydin ozdemir arslan dogan kilic aslan cetin kara
        koc kurt ozkan simsek polat korkmaz erdogan gunes aksoy bulut
        haddad khoury mansour hamdan najjar nasser saleh salem sharif ghanem hosseini mohammadi ahmadi rezaei
        karimi moradi jafari rahimi sharma verma gupta kumar singh patel shah mehta reddy nair iyer rao das
        ghosh mukherjee banerjee chatterjee mishra pandey tiwari yadav joshi desai chowdhury hossain rahman
        islam akter khatun perera fernando silva tanaka suzuki sato takahashi watanabe ito yamamoto nakamura
        kobayashi kato yoshida yamada sasaki yamaguchi matsumoto inoue kimura shimizu hayashi saito mori
        okafor okeke eze nwosu obi adeyemi okonkwo balogun mensah owusu boateng asante appiah osei diallo
        traore keita coulibaly diop ndiaye fall sow cisse kone toure dlamini nkosi ndlovu khumalo mokoena
        moyo ncube sibanda mwangi otieno kamau tesfaye bekele
    """,
    "Cyrillic, Greek, Hebrew, Arabic, Hindi; registers of electors": """
        иванов петров сидоров смирнов кузнецов попов соколов лебедев козлов новиков морозов волков федоров
        михайлов васильев павлов семенов голубев виноградов богданов воробьев шевченко коваленко
        бондаренко ткаченко кравченко мельник бойко коваль поліщук лысенко лисенко мороз ким ли
        παπαδόπουλος παπαδοπούλου βλάχος αγγελόπουλος νικολαΐδης γεωργίου δημητρίου κωνσταντίνου παππάς
        ιωάννου οικονόμου μακρής αθανασίου כהן לוי מזרחי פרץ ביטון דהן אברהם פרידמן מלכה אזולאי כץ יוסף
        דוד עמר אוחיון חדד גבאי בן-דוד אדרי العتيبي القحطاني الحربي الشمري الغامدي الزهراني الدوسري
        المطيري السيد المصري الحسن الحسين حداد خوري حسینی محمدی احمدی رضایی کریمی مرادی جعفری शर्मा वर्मा
        गुप्ता कुमार कुमारी सिंह पटेल शाह मेहता रेड्डी नायर राव दास घोष मिश्रा पांडे तिवारी यादव जोशी देवी
        खान
    """,
}
"""Names by language and source."""

_AMBIGUOUS_FAMILY_NAMES_TEXT = """
    schneider fischer weber wagner becker bauer richter zimmermann schwarz braun klein lange koch kaiser konig
    schuster winter sommer gross jung vogel fuchs stein schreiber jager ziegler horn keller sauer engel
    schafer schumacher kramer busch berger beck graf frei bakker visser mulder brouwer dekker boer vos bos
    carpentier mercier marchand chevalier bourgeois meunier barbier fontaine roche renard blanc brun legrand
    marshall freeman walker turner wright woods wells brooks hill hall cole reed foster webb graham hamilton
    blanco moreno rubio molina castillo campos flores fuentes caballero guerrero reyes rios villa costa rocha
    romano bianco greco gentile longo conte leone grasso farina sala serra marino messina ferrara valencia
    mazur zajac krol wrobel novotny vesely cerny nemec farkas fekete kiss nagy kovacs molnar juhasz takacs
    meszaros lakatos popa pop kara demir kaya celik aydin yildiz kurt aslan gunes kilic bulut islam fall sow
    moyo park winter austin martin simon lucas dietrich rose mora saar sepp tamm silva santos
    דוד יוסף אברהם מלכה ким ли мороз коваль бойко мельник
"""
AMBIGUOUS_FAMILY_NAMES = frozenset(_AMBIGUOUS_FAMILY_NAMES_TEXT.split())
"""Family names that are also trades, colours, animals or places; a single one is not a sign of a person."""

FAMILY_NAME_ENDINGS = re.compile(
    r".{3,}(?:sson|ssen|rsen|nsen|lsen|dottir|ovic|evic|ovich|evich|owski|ewski|inski|ynski|owska|ewska|inska"
    r"|ynska|owicz|ewicz|czyk|czak|ovsky|evsky|ovskiy|evskiy|ovskaya|enko|chuk|ovska|opoulos"
    r"|opoulou|ogiannis|idis|iadis|akis|adakis|escu|oglu|shvili|adze|idze|ainen|oinen|inen|anyan|osyan|aryan"
    r"|ov|ova|ev|eva"
    r"|ов|ова|ев|ева|енко|чук|щук|швили|дзе|евић|овић"
    r"|οπουλος|οπουλου|ιδης|ιδου|ακης|ακη|ογλου|ιαδης|ιαδου|σκακος)"
)
"""Endings of family names, lower case and without accents."""


@cache
def all_family_names() -> frozenset[str]:
    """Return every family name, as listed."""
    return frozenset(name for names in FAMILY_NAMES.values() for name in names.split())


_PARTICLES_TEXT = """
    von van der den de del della di da do dos das du des la le el al il bin ibn ben bint abu umm ter ten te zu
    zum zur vom af av y e i und and et en o og och ve wa na mac mc o' d' l' 't dela los las san-
"""
NAME_PARTICLES = frozenset(_PARTICLES_TEXT.split())
"""Small words within names; they are not a sign of a name."""

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
NAME_TITLES = frozenset(_TITLES_TEXT.split())
"""Titles and forms of address before a name."""

_STOPS_IN_FRONT_TEXT = """
    new north south east west northern southern eastern western upper lower lake port mount mt fort saint
    st ste sainte san santa santo sao sankt los las cape bad burg villa rio puerto monte playa cerro nueva
    nuevo nova novo novi nizhny veliky place bay isla lago valle val ponte porto pont mont
"""
LEADING_STOP_WORDS = frozenset(_STOPS_IN_FRONT_TEXT.split())
"""Words with which no name begins."""

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
STOP_WORDS = frozenset(f"{_PLACES} {_FIRMS} {_FUNCTION}".split())
"""Words that occur in no name."""

THING_WORDS = frozenset(f"{_TRADES} {_MATTERS}".split())
"""Words for trades and things; they occur in a name only after a given name (``Anna Brown``)."""

EAST_ASIAN_THING_ENDINGS = (
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
"""Endings of words for places, firms, trades, diseases and similar things."""
