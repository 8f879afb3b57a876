"""Family names in scripts with letters, by language, and their usual endings: a short list of our own.

The names head the public statistics of each source. Words that are trades, colours or places more often than
persons are left out: a column of trades is none of persons.
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
"""Text of names by language and source."""

_TRADES_AND_THINGS_TEXT = """
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
TRADES_AND_THINGS = frozenset(_TRADES_AND_THINGS_TEXT.split())
"""Family names that are also trades, colours, animals, places: each by itself is no sign."""

ENDINGS = re.compile(
    r".{3,}(?:sson|ssen|rsen|nsen|lsen|dottir|ovic|evic|ovich|evich|owski|ewski|inski|ynski|owska|ewska|inska"
    r"|ynska|owicz|ewicz|czyk|czak|ovsky|evsky|ovskiy|evskiy|ovskaya|enko|chuk|ovska|opoulos"
    r"|opoulou|ogiannis|idis|iadis|akis|adakis|escu|oglu|shvili|adze|idze|ainen|oinen|inen|anyan|osyan|aryan"
    r"|ov|ova|ev|eva"
    r"|ов|ова|ев|ева|енко|чук|щук|швили|дзе|евић|овић"
    r"|οπουλος|οπουλου|ιδης|ιδου|ακης|ακη|ογλου|ιαδης|ιαδου|σκακος)"
)
"""Endings of family names, small and without accents."""


@cache
def family_names() -> frozenset[str]:
    """Every listed name, as it is listed."""
    return frozenset(name for names in FAMILY_NAMES.values() for name in names.split())
