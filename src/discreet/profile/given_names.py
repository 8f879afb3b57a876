"""Given names by language and script, and family names that are written first, each list with its source.

Short lists of frequent names, compiled for this library; names that more often mean something else are left
out.
"""

from __future__ import annotations

from functools import cache

LATIN_GIVEN_NAMES = {
    "English; Social Security Administration, and Office for National Statistics": """
        james john robert michael william david richard joseph thomas charles christopher daniel matthew
        anthony donald steven paul andrew joshua kenneth kevin brian george timothy ronald edward jason
        jeffrey ryan jacob gary nicholas eric jonathan stephen larry justin scott brandon benjamin samuel
        gregory alexander patrick raymond jack dennis jerry aaron jose adam nathan henry zachary douglas
        peter kyle noah ethan jeremy walter keith roger terry sean gerald carl harold dylan arthur lawrence
        bryan billy bruce gabriel joe logan alan juan albert willie elijah wayne randy vincent mason roy
        ralph bobby russell philip eugene liam oliver lucas theodore leo luke owen wyatt isaac caleb
        harry charlie alfie archie oscar freddie ollie callum jake connor rhys ewan hamish angus graham
        trevor nigel simon ian neil stuart craig darren shane glenn clive barry derek malcolm kieran declan
        mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy sandra betty
        ashley emily kimberly margaret donna michelle carol amanda melissa deborah stephanie rebecca sharon
        laura cynthia dorothy amy kathleen angela shirley emma brenda pamela nicole anna samantha katherine
        christine helen debra rachel carolyn janet maria catherine heather diane olivia julie joyce virginia
        ruth lauren kelly christina joan evelyn judith andrea hannah megan cheryl jacqueline martha teresa
        gloria sara janice kathryn frances jean abigail alice julia judy sophia denise doris marilyn
        danielle beverly isabella theresa diana natalie brittany marie kayla alexis lori ava mia amelia
        ella chloe zoe lily poppy isla freya phoebe imogen eleanor lucy molly ellie millie fiona moira
        gillian hazel edith ethel florence agnes maureen eileen sheila niamh aoife siobhan saoirse ciara
        aisling sinead orla roisin maeve bronagh grainne padraig seamus eoin cian oisin darragh fionn
        cormac ronan tadhg donal brendan tom tim ben sam dan matt mike dave steve jim bob joey tony andy
        greg nick ken ron jeff kate katie jenny sue liz beth jill jane anne ann abby maggie peggy sally
        gemma tracy stacey wendy tiffany crystal courtney jasmine vanessa erica veronica valerie monica
        josh jamal darnell tyrone deshawn latoya keisha imani aaliyah ebony shanice tanisha jerome
    """,
    "German; Gesellschaft fur deutsche Sprache, and Bundesamt fur Statistik (CH)": """
        peter michael thomas andreas wolfgang klaus jurgen gunter gunther stefan christian uwe werner horst
        frank dieter manfred gerhard hans bernd torsten thorsten mathias matthias helmut walter heinz
        martin jorg joerg rolf jens sven alexander jan rainer holger karl dirk joachim ralf karsten carsten
        heinrich herbert olaf wilhelm kurt markus marcus ulrich harald oliver marco marko detlef tobias
        felix lukas jonas leon finn luis luca elias emil anton moritz niklas philipp tim jannik florian
        fabian sebastian johannes johann josef franz georg friedrich otto hermann ernst erich fritz rudolf
        konrad siegfried volker gerd udo egon bruno hugo theo jakob benedikt linus mats henri paul
        ursula monika petra elisabeth sabine renate helga karin brigitte ingrid erika andrea gisela claudia
        susanne gabriele christa christine hildegard anna birgit martina angelika heike gerda barbara ilse
        anja ruth edith elfriede ulrike stefanie maria irmgard angela kerstin katrin kathrin silke melanie
        nicole sandra bettina cornelia jutta margarete margit ute marion regina waltraud hannelore gertrud
        rosemarie annemarie liselotte lieselotte elke anke antje silvia sylvia doris katharina julia lena
        lea leonie laura hannah hanna emma mia sofia emilia lina mila ella klara clara frieda ida greta
        johanna charlotte luise louise marie sophie amelie lisa sarah jana jasmin vanessa franziska
        theresa magdalena verena nadine tanja simone daniela corinna carola anneliese dagmar sigrid uta
        heidi beate eva iris birte wiebke maren svenja mareike swantje elsbeth reto urs beat ueli hansruedi
        ruedi regula vreni lukas kaspar gian flurin ursina
    """,
    "French; Institut national de la statistique et des etudes economiques": """
        jean pierre michel andre philippe rene louis alain jacques bernard marcel daniel roger robert paul
        claude christian henri georges nicolas francois patrick gerard christophe joseph julien maurice
        laurent frederic eric david stephane pascal sebastien thierry olivier dominique guy alexandre
        raymond thomas antoine guillaume bruno didier yves maxime kevin romain quentin mathieu matthieu
        clement hugo theo enzo gabriel raphael arthur jules adrien baptiste benoit cedric damien emmanuel
        etienne fabien gilles gregoire herve jerome ludovic marc mickael remi remy serge sylvain tristan
        vincent xavier valentin florian loic yann yannick gael ronan corentin axel bastien lucien marius
        marie jeanne francoise monique catherine nathalie isabelle sylvie anne martine madeleine nicole
        suzanne helene christine louise valerie marguerite denise germaine veronique sophie celine
        jacqueline simone yvonne sandrine laurence brigitte chantal aurelie emilie caroline camille chloe
        manon lea emma ines jade lola zoe clara juliette charlotte pauline mathilde margaux oceane anais
        elodie stephanie virginie corinne delphine karine melanie laetitia severine audrey amandine agnes
        colette ginette josiane lucienne mireille odette paulette raymonde renee solange therese yvette
        bernadette benedicte clemence coralie eloise florence gaelle genevieve ghislaine josephine marion
        noemie sabrina solene lucie alice rose amelie elise claire cecile estelle fabienne jessica lise
    """,
    "Spanish; Instituto Nacional de Estadistica, and Registro Civil (MX, AR, CO)": """
        antonio manuel jose francisco david juan javier daniel carlos jesus alejandro miguel rafael pablo
        pedro angel sergio fernando jorge luis alberto alvaro diego adrian raul ivan ruben enrique ramon
        vicente oscar andres joaquin santiago eduardo victor mario roberto jaime marcos ignacio alfonso
        jordi salvador ricardo guillermo emilio julian tomas gabriel agustin felix rodrigo mateo martin
        nicolas gonzalo ismael samuel hector hugo gerardo arturo armando ernesto gustavo mauricio rogelio
        ramiro esteban leonardo cesar alfredo rodolfo facundo thiago joel jairo hernan nestor wilson edgar
        maria carmen josefa isabel dolores pilar teresa ana francisca laura antonia cristina marta mercedes
        lucia rosario raquel elena concepcion manuela sara paula juana rosa beatriz rosa patricia julia
        encarnacion silvia rocio irene alba montserrat andrea monica alicia margarita marina nuria natalia
        angela sonia susana yolanda esther noelia eva sofia inmaculada amparo lorena ines veronica
        esperanza consuelo catalina daniela valentina camila mariana ximena fernanda guadalupe gabriela
        alejandra claudia adriana carolina luisa juanita leticia norma graciela martina renata regina
        jimena luciana abril micaela florencia agustina yesenia marisol maribel araceli blanca gloria
        josefina lourdes magdalena olga raquel rebeca rosalia soledad trinidad itziar ainhoa ane nerea
        leire miren iker unai aitor gorka mikel xabier jon eneko laia merce nuria pau arnau oriol
    """,
    "Portuguese; Instituto Brasileiro de Geografia e Estatistica, and Instituto dos Registos e Notariado": """
        joao jose antonio francisco carlos paulo pedro lucas luiz marcos luis gabriel rafael daniel marcelo
        bruno eduardo felipe raimundo rodrigo manoel mateus matheus andre fernando fabio leonardo gustavo
        guilherme leandro tiago thiago anderson ricardo marcio jorge sebastiao alexandre roberto edson
        diego vitor sergio claudio gilberto rogerio joaquim nuno rui miguel duarte afonso henrique vasco
        goncalo tomas salvador martim rodrigo simao davi enzo arthur bernardo heitor murilo caio
        maria ana francisca antonia adriana juliana marcia fernanda patricia aline sandra camila amanda
        bruna jessica leticia julia luciana vanessa mariana gabriela vera vitoria larissa claudia beatriz
        rita luana sonia renata eliane josefa simone natalia cristiane carla debora rosangela jaqueline
        rosa daniela marlene terezinha raimunda andreia lurdes fatima conceicao graca ines joana catarina
        matilde leonor carolina margarida madalena sofia teresa isabel filipa susana helena raquel marta
        luisa alice laura manuela valentina heloisa lorena cecilia isadora yasmin rafaela thais taina
    """,
    "Italian; Istituto nazionale di statistica": """
        giuseppe antonio giovanni mario luigi francesco angelo vincenzo pietro salvatore carlo franco
        domenico bruno paolo michele giorgio aldo sergio luciano andrea marco roberto stefano alessandro
        davide matteo lorenzo leonardo mattia gabriele riccardo tommaso edoardo federico simone luca
        filippo emanuele daniele fabio claudio massimo maurizio enrico gianni gianluca giacomo nicola
        raffaele rosario umberto vittorio alberto alfredo armando arturo corrado dario diego elio emilio
        enzo ettore fabrizio ferdinando fulvio gennaro gino guido ivano lino livio marcello mauro mirko
        nino ottavio pasquale renato rocco romano silvano silvio tiziano ugo valerio walter
        maria anna giuseppina rosa angela giovanna teresa lucia carmela caterina francesca antonietta
        carla elena concetta rita margherita franca paola laura chiara giulia sara martina federica
        alessia alice aurora ginevra sofia beatrice emma gaia giorgia greta camilla valentina silvia
        elisa elisabetta simona roberta cristina daniela patrizia barbara monica sabrina manuela michela
        ilaria serena claudia alessandra antonella annamaria assunta bruna cinzia donatella emanuela
        fiorella gabriella giuliana graziella ivana lidia loredana luisa marina mirella nadia ornella
        raffaella rosanna silvana stefania tiziana vincenza vittoria viviana noemi arianna debora
    """,
    "Dutch; Sociale Verzekeringsbank, and Statbel (BE)": """
        jan johannes cornelis hendrik willem pieter jacob gerrit dirk adrianus johan petrus kees piet henk
        wim joop ruud rob hans marcel jeroen bas bart maarten martijn sander niels rick tim daan sem bram
        lars luuk thijs ruben jesse stijn teun joris koen sjoerd wouter wesley dennis mark erik
        gijs floris pim noud siem guus mees levi milan lotte julia sophie sanne lieke anouk iris fleur
        femke maaike marieke marloes marjolein ingrid ellen wilma ria truus annie greetje tineke hanneke
        anneke mieke ineke petronella johanna cornelia wilhelmina hendrika adriana elisabeth geertje
        grietje trijntje saskia esther mirjam inge kim eva tess noor saar evi liv nora roos yara fenna
        joke els karin bianca astrid monique jolanda yvonne margriet wendy linda nele joke lieve jef luc
        griet sofie elke katrien veerle wannes jonas seppe lander senne pieterjan
    """,
    "Swedish, Norwegian, Danish; Statistics Sweden, Statistics Norway, Statistics Denmark": """
        lars mikael anders johan karl per nils jan lennart hans olof gunnar sven bengt bo fredrik ake goran
        magnus stefan thomas mats henrik peter erik leif bjorn andreas ulf christer hakan kjell axel emil
        oscar oskar hugo elias lucas william liam noah filip viktor victor ludvig gustav gustaf arvid albin
        ole jan lars kjell knut svein arne thor tor bjorn odd geir terje morten erik rune helge trond hans
        per kare einar sigurd leif olav harald oyvind espen eirik sindre sondre haakon henning
        jens niels soren jorgen hans peder anders christian rasmus mads mikkel kasper frederik magnus
        asger aksel malthe valdemar villads torben flemming kurt preben poul mogens steen brian carsten
        maria anna margareta elisabeth eva kristina birgitta karin marie ingrid christina linnea sofia
        kerstin marianne lena helena emma johanna inger sara cecilia anette elin ulla gunilla annika
        susanne astrid maja alva elsa wilma ebba saga agnes freja alice vera klara ida hanna malin josefin
        anne inger kari marit ingrid liv berit astrid bjorg hilde anita solveig randi nina ida silje
        ingeborg sigrid ragnhild gunn unni turid tone hege marte thea nora ingvild frida tuva
        kirsten hanne mette susanne pia helle lone gitte birthe bente tove dorte dorthe bodil karen lis
        lise signe mathilde josefine laerke caroline cecilie camilla maiken rikke stine trine ditte
        jon sigurdur gudmundur gunnar olafur kristjan magnus einar gudrun anna sigridur kristin margret
        helga ingibjorg johanna katrin
    """,
    "Finnish, Estonian, Latvian, Lithuanian; Digital and Population Data Services Agency, and registers": """
        juhani johannes mikael antero tapani matti kalevi tapio timo juha kari mikko antti jari jukka pekka
        petri heikki hannu markku seppo ville janne sami marko jussi lauri eero teemu tero risto esa ari
        arto jarmo harri pasi veli ilkka olli aleksi eetu onni eino vaino leo niilo toivo elias joona
        maria anneli helena johanna kaarina marjatta hannele kristiina liisa emilia elina tuulikki annikki
        sari tiina minna anna paivi pirjo riitta leena tuula ritva satu heli kirsi jaana eeva aino aada
        sofia olivia eevi helmi venla hilla katja outi raija seija sirpa merja marja mari heidi hanna
        rein juri andres toomas margus urmas ants jaan tiit peeter kalle meelis martin kristjan kaarel
        rasmus markus siim tarmo aivar ulle tiiu sirje malle anne kadri kristi katrin liis piret triin
        janis andris juris edgars martins peteris valdis guntis aivars inta ilze liga kristine inese zane
        dace iveta anita sandra jonas vytautas antanas tomas juozas kestutis petras algirdas mindaugas
        darius saulius arturas gintaras rokas lukas ona irena danute kristina janina jolanta rasa daiva
        egle ruta austeja ugne ieva
    """,
    "Polish; Rejestr PESEL": """
        jan andrzej piotr krzysztof stanislaw tomasz pawel jozef marcin marek michal grzegorz jerzy tadeusz
        adam lukasz zbigniew ryszard dariusz henryk mariusz kazimierz wojciech robert mateusz marian rafal
        jacek janusz miroslaw maciej slawomir jaroslaw kamil wieslaw roman wladyslaw jakub artur zdzislaw
        edward mieczyslaw damian dawid przemyslaw sebastian czeslaw leszek daniel waldemar szymon filip
        kacper antoni franciszek mikolaj aleksander bartosz bartlomiej hubert karol patryk dominik igor
        anna maria katarzyna malgorzata agnieszka krystyna barbara ewa elzbieta zofia janina teresa joanna
        magdalena monika jadwiga danuta irena halina helena beata aleksandra marta dorota marianna grazyna
        jolanta stanislawa iwona karolina bozena urszula justyna renata alicja paulina sylwia natalia
        wanda agata aneta izabela ewelina marzena wieslawa genowefa patrycja kazimiera edyta stefania
        zuzanna julia maja hanna lena oliwia wiktoria amelia nikola kinga weronika
    """,
    "Czech, Slovak; Ministry of the Interior (CZ), and Ministry of the Interior (SK)": """
        jiri jan petr josef pavel martin tomas jaroslav miroslav zdenek frantisek vaclav michal milan karel
        jakub lukas david ladislav stanislav roman ondrej radek marek daniel antonin vojtech filip adam
        miloslav matej jaromir ales libor rudolf dominik jindrich vlastimil vladimir lubos radim bohumil
        jozef peter jan juraj stefan milos dusan marian igor branislav anton patrik samuel matus lubomir
        marie jana eva hana anna vera lenka alena katerina petra lucie jaroslava ludmila helena jitka
        martina jirina zdenka veronika jarmila michaela ivana monika tereza zuzana marcela dagmar dana
        bozena vlasta kristyna miroslava irena barbora pavla eliska karolina natalie adela sarka simona
        maria katarina viera daniela andrea margita emilia gabriela natalia nina sofia ema
    """,
    "Hungarian; Kozponti Statisztikai Hivatal": """
        laszlo istvan jozsef janos zoltan sandor gabor ferenc attila peter tamas zsolt tibor andras imre
        lajos gyorgy csaba balazs gyula mihaly karoly robert daniel bela adam david kalman miklos norbert
        krisztian bence mate levente dominik marcell milan botond aron akos arpad geza erno denes jeno
        maria erzsebet katalin ilona eva anna zsuzsanna margit judit julianna agnes andrea ildiko erika
        krisztina iren eszter magdolna monika edit gabriella szilvia anita aniko zsofia hanna luca
        boglarka reka dora viktoria vivien fanni orsolya piroska rozalia terez timea tunde beata dorottya
        kinga noemi petra virag zita ibolya jolan marta klara emese
    """,
    "Romanian; Institutul National de Statistica": """
        gheorghe ioan vasile constantin ion alexandru nicolae dumitru mihai adrian stefan florin daniel
        marian marin gabriel cristian andrei ionut razvan bogdan radu catalin sorin lucian liviu ovidiu
        viorel cornel petru traian ilie costel mircea dan emil eugen horia octavian tudor vlad rares
        elena ioana mihaela andreea ana daniela alexandra georgiana cristina florentina maria mariana
        gabriela nicoleta alina simona roxana raluca diana oana monica carmen corina adriana ileana
        rodica viorica floarea lenuta aurelia doina ecaterina steluta valentina larisa bianca denisa
    """,
    "Croatian, Serbian, Bosnian, Slovenian, Albanian, Bulgarian; national statistical offices": """
        ivan josip marko tomislav zeljko stjepan ante ivica mario luka petar zoran branko nikola zlatko
        drazen igor damir krunoslav hrvoje boris goran mladen dragan milan milos nemanja stefan jovan
        aleksandar dusan vladimir nenad slobodan predrag bojan dejan srdjan uros lazar vuk filip mirko
        amir emir haris kenan mirza adnan edin senad nermin mustafa tarik jasmina amra lejla emina selma
        franc janez marjan anton andrej joze matej matjaz primoz rok ziga jernej gregor bostjan miha ales
        marija ana ivana mirjana katarina nada dragica ljubica vesna marina petra ivanka jelena milica
        dragana snezana gordana svetlana biljana jovana teodora tamara slavica zorica ruzica stana mojca
        maja irena nina sonja andreja tatjana barbara neza spela urska tjasa zala agim arben artan besnik
        fatos ilir gezim luan shpetim drita mimoza teuta vjosa albana ardita georgi dimitar nikolay
        hristo stoyan todor plamen krasimir yordan asen ivanka yordanka stanka gergana desislava ralitsa
    """,
    "Greek in Latin letters; ELOT 743 of the names in other_given_names": """
        georgios ioannis dimitrios konstantinos nikolaos panagiotis vasileios christos athanasios michail
        evangelos spyridon antonios anastasios theodoros andreas charalampos alexandros emmanouil ilias
        stavros petros sotirios stylianos grigorios apostolos giorgos giannis dimitris kostas nikos vasilis
        thanasis vangelis spyros maria eleni aikaterini vasiliki sofia angeliki georgia dimitra
        konstantina paraskevi anna ioanna evangelia panagiota despoina kyriaki katerina chrysoula
        christina stavroula eirini anastasia athina fotini zoi
    """,
    "Russian, Ukrainian, Belarusian in Latin letters; ICAO 9303 and other usual transcriptions": """
        alexander aleksandr sergey sergei vladimir andrey andrei alexey aleksei alexei dmitry dmitri dmitriy
        nikolay nikolai mikhail ivan yuri yury igor evgeny yevgeny evgeniy viktor oleg anatoly anatoliy
        maxim maksim pavel konstantin denis roman vitaly vitaliy vadim stanislav boris leonid artem artyom
        ilya kirill nikita ruslan timur egor grigory gennady valery vyacheslav stepan arseniy
        elena yelena olga natalia natalya tatiana tatyana irina svetlana anna lyudmila ludmila galina
        ekaterina yekaterina nadezhda marina maria valentina anastasia oksana yulia julia larisa vera
        lyubov yana alina ksenia daria darya polina viktoria evgenia zinaida raisa tamara nina alla lidia
        oleksandr serhii serhiy volodymyr mykola andrii andriy vasyl yurii dmytro ihor mykhailo petro
        oleksii oleksiy yaroslav bohdan taras ostap nazar danylo maksym kateryna olena nataliia oksana
        tetiana iryna svitlana halyna yuliia liudmyla nadiia khrystyna solomiia zlata bohdana
        aliaksandr siarhei uladzimir mikalai dzmitry katsiaryna volha
    """,
    "Turkish, Azerbaijani; Nufus ve Vatandaslik Isleri": """
        mehmet mustafa ahmet ali huseyin hasan ibrahim ismail osman yusuf murat omer ramazan halil suleyman
        abdullah mahmut recep fatih salih kadir emre hakan kemal yasar bekir musa metin serkan orhan burak
        selim cengiz erdal gokhan volkan tolga onur baris cem can deniz eren kaan mert berk furkan yigit
        umut ozan engin erkan ersin levent sinan tuncay ufuk yilmaz alper arda kerem alparslan bilal
        fatma ayse emine hatice zeynep elif meryem serife zehra sultan hanife merve havva zeliha esra ozlem
        hulya yasemin hacer sevim gul gulsum gulay nurcan nuray songul turkan ebru tugba busra kubra seda
        pinar derya dilek sibel asli ece defne ecrin eylul azra nisa asya irem melike beyza ceren gizem
        selin burcu aysel aynur nermin perihan elcin gunel leyla sevda nigar rashad elchin tural vugar
    """,
    "Arabic in Latin letters; national civil registers, names in usual transcriptions": """
        mohammed mohamed muhammad mohammad muhammed ahmed ahmad ali hassan hussein hussain hasan omar umar
        khaled khalid mahmoud mahmood youssef yousef yusuf ibrahim mustafa mostafa abdullah abdallah
        abdulrahman abdelrahman abdul abdel tariq tarek saleh salim saeed said samir karim kareem amir
        hamza bilal nasser walid waleed ziad zaid faisal fahad sultan majed rashid rami sami hani adel
        ashraf ayman bassam farid fouad habib ismail jamal kamal marwan nabil rachid reda redouane yassine
        mehdi hicham anas ayoub ilyas imran usman bashir idris suleiman
        fatima fatimah fatma aisha aicha khadija maryam mariam zainab zaynab zeinab amina aminah layla
        leila salma sara noor nour nora huda hanan iman eman rania reem rana rim dina dalia samira nadia
        naima souad soraya yasmin yasmine yasmeen hala heba lina lamia malak mona mouna najwa nawal
        rasha sahar samar shaimaa shaima wafa zahra hafsa asma asmaa ghada
    """,
    "Hebrew in Latin letters; Central Bureau of Statistics (IL)": """
        moshe yosef david avraham yaakov itzhak yitzhak haim chaim shlomo eli shimon yehuda daniel
        michael meir shmuel noam itai omer ori uri eyal ronen gil amir yair nadav yonatan guy tomer
        ariel eitan lior yoav oren asaf alon boaz dov elad ehud gadi hillel menachem mordechai nir
        noa tamar sarah rivka rachel leah miriam esther maya yael shira avigail adi talia ayelet
        michal hila efrat galit orit osnat ronit sigal shoshana tzipora yehudit zehava hadas inbar
    """,
    "Persian, Kurdish, Pashto in Latin letters; National Organization for Civil Registration (IR)": """
        mohammadreza alireza reza hossein mehdi amirhossein amirali mahdi hamid saeed majid behnam behrouz
        bahram dariush farhad farshid hamed javad kaveh kourosh mahmoud masoud mehrdad navid omid parviz
        payam ramin shahin siamak vahid zahra fatemeh maryam masoumeh sakineh elham leila narges mahsa
        nasrin parisa shirin azadeh bahar farzaneh golnaz mahnaz mina niloufar nazanin pouran samaneh
        setareh shabnam sepideh yasaman roya azad rojda berivan baran rojin serhat gulistan farid habibullah
    """,
    "Indian languages in Latin letters; electoral rolls and India Human Development Survey, usual names": """
        rajesh ramesh suresh mahesh mukesh rakesh dinesh ganesh mohan ram shyam krishna vijay ajay sanjay
        anil sunil amit sumit rohit mohit rahul ravi raj raju sandeep pradeep deepak vikas vivek vinod
        manoj manish ashok ashish arun varun tarun nitin sachin gaurav saurabh abhishek aditya arjun karan
        rohan nikhil harish naresh satish prakash ramakrishna venkatesh srinivas subramanian murugan
        senthil karthik balaji ganesan selvam kumaran arvind aravind gopal hari jagdish kailash lakshman
        narendra rajendra surendra mahendra jitendra devendra harpreet gurpreet manpreet jaspreet sukhwinder
        balwinder priya pooja puja neha sunita anita kavita savita geeta gita sita seema reena meena rekha
        usha asha lata lakshmi laxmi saraswati parvati radha sangeeta sunanda anjali deepa deepika divya
        kiran komal jyoti madhuri manisha nisha pallavi preeti rani rashmi ritu shalini shilpa shweta
        smita sneha swati vandana vidya aishwarya ananya aarav vivaan ishaan diya aadhya saanvi kavya
        bhavna hema jaya kamala kalpana malini nirmala padma revathi selvi shanti sudha suman sushila
        indira mohammed imran salman farhan arif nasreen shabana rubina rukhsana ayesha rizwan kashif
        abdur rahman rahim karim mizanur nasrin taslima shahida anwar jahangir nimal kumari sunethra
        chaminda ruwan dilani bimal sita ram hari bishnu krishna maya sarita
    """,
    "Chinese in Latin letters; Ministry of Public Security (CN), Ministry of the Interior (TW)": """
        xiaoming xiaohong xiaoyan xiaoli jianguo jianhua jianjun guoqiang zhiqiang zhigang haiyan
        xiuying guiying yulan yumei yuhua xiulan guilan fengying lihua meiling jingyi yichen
        yuxuan zihan zixuan haoran yize muchen xinyi yutong chiahao chihming shufen meihui yating
        chunchieh junhao weiming
    """,
    "Japanese in Latin letters; Meiji Yasuda's yearly lists": """
        hiroshi takashi kenji akira makoto takeshi satoshi kazuo yoshio masao shigeru minoru kiyoshi
        hiroki daiki takumi kenta shota ryota naoki yuki haruto sota yuto yuma riku hinata ren minato
        daisuke tsuyoshi tetsuya kazuya shinichi koji yuji shoji kenichi taro ichiro jiro saburo
        yoko keiko kazuko hiroko yoshiko kumiko yumiko tomoko naoko akiko sachiko noriko michiko emiko
        hanako haruka yui aoi sakura misaki ayaka nanami mei rin himari akari hina mio kaori mariko
        yuko junko mayumi ayumi megumi asuka chihiro shizuka setsuko fumiko chiyo
    """,
    "Korean in Latin letters; Supreme Court of Korea, statistics of names": """
        minjun seojun jihoon jihun sungmin youngho youngsoo youngsu kyungho sangho jinho donghyun
        seunghyun hyunwoo junho minsu minho sungho jaehyun jiho doyun yejun seoyeon minseo jiwoo jiwon
        soyeon eunji eunju hyejin jieun jiyoung youngja youngsook kyunghee misook sunhee eunjung yuna
        hana subin chaewon sooyoung seohyun yejin
    """,
    "Indonesian, Malay, Filipino, Thai in Latin letters; civil registers": """
        budi agus joko slamet bambang eko dwi tri sri siti dewi wati ani ratna rina yuni nur nurul putri
        putra wahyu adi hendra dedi rudi andi iwan heri yanto suparman sutrisno suryadi wulan lestari
        indah fitri rahayu sulastri nining ketut made wayan nyoman gede komang kadek aminah rosnah
        zainal azman hafiz faizal nurhaliza syahrul jayson jomar rodel reynaldo arnel jericho marivic
        maricel rowena jocelyn lovely analyn rosalinda divina somchai somsak somporn sompong prasert
        wichai surachai niran kanya malee pranee suda sunee wanida siriporn supaporn nattapong
        thanakorn apinya chanida kittisak pornthip ratana somying
    """,
    "African languages; national registers (NG, GH, KE, TZ, ET, ZA, SN, CM, CD), usual names": """
        chukwuemeka emeka chinedu obinna ikechukwu chidi uche ngozi chioma chiamaka ifeoma nkechi amaka
        adaeze nnamdi kelechi oluwaseun oluwatobi tunde babatunde ayodele adebayo adewale folake
        yetunde funmilayo temitope bukola olumide segun musa aminu sani hauwa hadiza zainabu halima
        kwame kofi kwabena kwaku yaw ama akosua abena akua efua esi adwoa kojo wanjiru wambui njeri
        wangari nyambura mwangi kamau kariuki otieno ochieng achieng akinyi adhiambo juma hamisi
        baraka neema zawadi rehema asha mwajuma abebe tesfaye bekele haile alemu getachew tadesse
        mulugeta tigist almaz hirut selamawit meseret thabo sipho themba bongani sibusiso mandla
        nomvula thandi thandiwe lerato kagiso tshepo nthabiseng zanele nomsa ayanda lungile mamadou
        moussa ousmane abdoulaye ibrahima cheikh modou amadou seydou souleymane fatou aminata aissatou
        mariama awa ndeye khady rokhaya adama oumar boubacar issa drissa salif yao kouassi kouadio
        konan akissi affoue tendai tatenda farai chipo rudo tafadzwa nyasha
    """,
    "Armenian, Georgian, Central Asian in Latin letters; national registers": """
        armen hayk tigran gevorg karen artur vahan ashot hovhannes gagik narek davit anahit ani
        hasmik gayane lilit mariam nune astghik giorgi levan nika zurab irakli tamaz lasha nino
        tamar ketevan natia salome nana maka aibek nurlan serik yerlan askar daulet bauyrzhan aigul
        gulnara dinara saule aliya zhanna aizhan bakyt azamat ulan jyldyz botir jasur sherzod dilshod
        otabek gulchehra nilufar dildora zulfiya malika batbayar ganbaatar bolormaa oyunbileg
    """,
}
"""Names in Latin script by language and source."""

_AMBIGUOUS_TEXT = """
    abril alba angel asya aurora axel beat blanca bo can carmen charlotte christian dan deniz derya
    diya dolores dominique dov dwi elif esperanza eylul fleur florence florian franc frank georgia
    gil gloria guadalupe guy iris issa jade jan juma kim leon levi lourdes lovely made marina mark
    mercedes mina mona montserrat nana nora nur oscar per pia pilar ram rein rob rocio rok roman
    romano rosa rose saga said salvador santiago sofia soledad sri sultan tone tri trinidad unni
    usha vera victor viktoria zala
"""
AMBIGUOUS_GIVEN_NAMES = frozenset(_AMBIGUOUS_TEXT.split())
"""Names that are also places, things, months or common words; a single one is not a sign of a person."""


@cache
def latin_given_names() -> frozenset[str]:
    """Return every listed name, lower case and in ASCII."""
    return frozenset(name for names in LATIN_GIVEN_NAMES.values() for name in names.split())


GIVEN_NAMES_BY_SCRIPT = {
    "Russian, Belarusian, Bulgarian, Serbian; registry offices (ZAGS), national statistical offices": """
        александр сергей владимир андрей алексей дмитрий николай михаил иван юрий игорь евгений виктор олег
        анатолий максим павел константин денис роман виталий вадим станислав борис леонид артем илья кирилл
        никита руслан тимур егор григорий геннадий валерий вячеслав степан арсений антон василий петр федор
        семен тимофей матвей лев марк даниил ярослав глеб святослав георгий эдуард аркадий валентин захар
        елена ольга наталья наталия татьяна ирина светлана анна людмила галина екатерина надежда марина мария
        валентина анастасия оксана юлия лариса вера любовь яна алина ксения дарья полина виктория евгения
        зинаида раиса тамара нина алла лидия софия софья варвара кристина маргарита вероника алиса диана
        антонина элеонора ева василиса зоя инна жанна эльвира регина ульяна милана
        георги димитър николай христо стоян тодор пламен красимир йордан асен мария иванка йорданка цветанка
        марко никола милан дејан зоран јелена милица драгана снежана светлана биљана
        аляксандр сяргей уладзімір мікалай дзмітрый кацярына вольга
    """,
    "Ukrainian; Ministry of Justice": """
        олександр сергій володимир микола андрій василь юрій дмитро ігор михайло петро олексій ярослав богдан
        тарас остап назар данило максим іван віктор анатолій валерій вячеслав вітали віталій євген олег павло
        катерина олена наталія оксана тетяна ірина світлана галина юлія людмила надія христина соломія злата
        богдана марія ганна любов вікторія анастасія дарина мар'яна ольга софія поліна вероніка лариса
    """,
    "Kazakh, Kyrgyz, Mongolian, Tajik; national statistical offices": """
        нурлан серик ерлан аскар даулет айгуль гульнара динара сауле алия жанна айжан бакыт азамат улан
        батбаяр болормаа оюунбилэг шерзод дилшод рустам фарход мадина зарина
    """,
    "Greek; registers of electors": """
        γεώργιος ιωάννης δημήτριος κωνσταντίνος νικόλαος παναγιώτης βασίλειος χρήστος αθανάσιος μιχαήλ
        ευάγγελος σπυρίδων αντώνιος αναστάσιος θεόδωρος ανδρέας χαράλαμπος αλέξανδρος εμμανουήλ ηλίας
        σταύρος πέτρος σωτήριος στυλιανός γρηγόριος απόστολος γιώργος γιάννης δημήτρης κώστας νίκος
        βασίλης θανάσης βαγγέλης σπύρος μιχάλης αντώνης θοδωρής μανώλης στέλιος άγγελος λευτέρης μάριος
        στέφανος φώτης τάσος μαρία ελένη αικατερίνη βασιλική σοφία αγγελική γεωργία δήμητρα κωνσταντίνα
        παρασκευή άννα ιωάννα ευαγγελία παναγιώτα δέσποινα κυριακή κατερίνα χρυσούλα χριστίνα σταυρούλα
        ειρήνη αναστασία αθηνά φωτεινή ζωή βάσω ευτυχία θεοδώρα αλεξάνδρα χρυσάνθη ευγενία νίκη όλγα
        ραφαήλ
    """,
    "Arabic, Persian, Urdu; civil registers": """
        محمد أحمد علي حسن حسين عمر خالد محمود يوسف إبراهيم مصطفى عبدالله عبدالرحمن عبد طارق صالح سالم سعيد
        سامي كريم أمير حمزة بلال ناصر وليد زياد فيصل فهد سلطان ماجد راشد رامي هاني عادل أشرف أيمن باسم
        فريد فؤاد إسماعيل جمال كمال مروان نبيل رشيد رضا ياسين مهدي أنس أيوب إلياس عثمان سليمان موسى عيسى
        سعد تركي بندر عبدالعزيز نايف مشعل جابر حسام شريف ماهر منير نادر هشام وائل ياسر فاطمة عائشة خديجة
        مريم زينب أمينة ليلى سلمى سارة نور نورة هدى حنان إيمان رانيا ريم رنا دينا داليا سميرة نادية نوال
        سعاد ثريا ياسمين هالة هبة لينا مها منى نجوى رشا سحر سمر شيماء وفاء حفصة أسماء غادة آمنة أمل سلوى
        لطيفة منيرة موضي جميلة رقية صفاء بشرى بسمة تهاني جواهر خلود دعاء رغد روان سلمان شهد عبير عهود غدير
        فرح لمى لجين مشاعل مي ميساء نجلاء نهى نوف هيفاء وجدان وعد ولاء يارا إسراء آلاء إبتسام رؤى صالحة
        فوزية إياد أسامة بدر بسام تامر جاسم حاتم حازم حسني خليل رائد رأفت زكريا سلطان شادي طلال ظافر عاصم
        عامر عبدالرحيم عبداللطيف عصام علاء عماد غسان فادي فراس قاسم قصي لؤي مازن مجدي محسن معاذ معتز منصور
        مؤمن نزار نواف هيثم يحيى يزيد يعقوب زكي أحمد سيد جورج ميخائيل بطرس محمدرضا علیرضا رضا حسین مهدی
        امیرحسین حمید مجید بهنام بهروز بهرام داریوش فرهاد جواد کاوه کوروش مسعود مهرداد نوید امید پرویز
        پیام رامین شاهین سیامک وحید زهرا فاطمه معصومه سکینه الهام لیلا نرگس مهسا نسرین امیر آرش آرمان بابک
        پویا حسن حمیدرضا سعید سینا شهرام عباس عرفان علی‌اکبر فرزاد کامران کیان محسن مجتبی محمدحسین
        محمدمهدی مرتضی میلاد نیما هادی یاسین اعظم پروین رقیه ریحانه زیبا سارا سمیرا سوسن طاهره فاطمه‌زهرا
        فریبا کبری لاله مژگان معصومه مینا نگار هانیه یگانه حسنا پریسا شیرین آزاده بهار فرزانه مهناز نیلوفر
        نازنین سمانه ستاره شبنم علی یوسف زینب عمران سلمان عائشہ فاطمہ شبانہ رخسانہ بی‌بی
    """,
    "Hebrew; Central Bureau of Statistics": """
        משה יוסף דוד אברהם יעקב יצחק חיים שלמה אלי שמעון יהודה דניאל מיכאל מאיר שמואל נועם איתי עומר אורי
        אייל רונן גיל אמיר יאיר נדב יונתן גיא תומר אריאל איתן ליאור יואב אורן אסף אלון בועז דב אלעד אהוד
        גדי הלל מנחם מרדכי ניר רון רן שי עידו עידן יובל אביב ברק נעם לביא נועה תמר שרה רבקה רחל לאה מרים
        אסתר מאיה יעל שירה אביגיל עדי טליה איילת מיכל הילה אפרת גלית אורית אסנת רונית סיגל שושנה ציפורה
        יהודית זהבה הדס ענבר חנה דינה דליה אביבה מאיה נטע ליאת מורן שרון
    """,
    "Hindi, Marathi, Nepali; electoral rolls": """
        राजेश रमेश सुरेश महेश मुकेश राकेश दिनेश गणेश मोहन राम श्याम कृष्ण विजय अजय संजय अनिल सुनील अमित
        सुमित रोहित मोहित राहुल रवि राज संदीप प्रदीप दीपक विकास विवेक विनोद मनोज मनीष अशोक आशीष अरुण वरुण
        नितिन सचिन गौरव अभिषेक आदित्य अर्जुन करण रोहन हरि गोपाल नरेंद्र राजेंद्र सुरेंद्र महेंद्र जितेंद्र
        शिव लक्ष्मण भरत प्रकाश सतीश पंकज प्रिया पूजा नेहा सुनीता अनीता कविता सविता गीता सीता सीमा रेखा
        मीना उषा आशा लता लक्ष्मी सरस्वती पार्वती राधा संगीता अंजलि दीपा दीपिका दिव्या किरण कोमल ज्योति मधु
        मनीषा निशा प्रीति रानी रश्मि ऋतु शिल्पा श्वेता स्नेहा स्वाति वंदना शेखर नवीन राजू गोविंद कैलाश
        महेन्द्र नरेन्द्र राजेन्द्र सुरेन्द्र देवेंद्र धर्मेंद्र योगेश लोकेश मयंक तुषार कपिल कार्तिक हर्ष
        यश ओम चंदन दीपेश हेमंत जगदीश किशोर ललित मदन नंद प्रमोद रामू शंकर तरुण उमेश विष्णु बिष्णु सीताराम
        आरती अनु अर्चना भावना चित्रा हेमा जया काजल कल्पना कमला लीला माया मीरा नंदिनी पल्लवी प्रभा रजनी
        रूपा साधना शारदा शोभा सुधा सुषमा तनु उमा वैशाली वर्षा आकाश चेतन मकरंद गणपत निर्मला सुजाता अक्षय
        ओंकार स्वप्निल विद्या ममता सरिता रीना रीता शांति सुमन मोहम्मद इमरान सलमान फातिमा आयशा
    """,
    "Bengali, Tamil, Telugu, Gujarati, Punjabi; electoral rolls": """
        মোহাম্মদ রহিম করিম হাসান হোসেন আলী রহমান সুমন রাজু অমিত কামাল জামাল শফিক রফিক মিজান আনোয়ার
        জাহাঙ্গীর ইমরান সোহেল রাসেল মামুন সাইফুল নজরুল আব্দুল মোঃ মো শামীম তানভীর সুজন বাবুল রুবেল অনিল
        সুনীল রবি শ্যামল বিমল কমল খাদিজা শিরিন রোকেয়া জাহানারা রহিমা মরিয়ম তাসলিমা পারভীন আক্তার বেগম
        খাতুন মৌসুমী প্রিয়া পূজা অনিতা ফাতেমা আয়েশা নাসরিন সালমা রিনা মিতা সুমি লক্ষ্মী முருகன் குமார்
        கார்த்திக் செந்தில் ராஜா லட்சுமி பிரியா கவிதா மீனா ராதா రాజు రమేష్ సురేష్ శ్రీనివాస్ లక్ష్మి పద్మ
        સુરેશ રમેશ મહેશ ગીતા મીના ਗੁਰਪ੍ਰੀਤ ਹਰਪ੍ਰੀਤ ਮਨਪ੍ਰੀਤ ਜਸਪ੍ਰੀਤ
    """,
    "Thai; Department of Provincial Administration": """
        สมชาย สมศักดิ์ สมพร สมพงษ์ สมหมาย สมบัติ สมคิด สมาน ประเสริฐ วิชัย สุรชัย นิรันดร์ ประยุทธ์ อนุชา
        วีระ สุชาติ ธนกร กิตติ กิตติศักดิ์ ณัฐพล ณัฐวุฒิ พงศกร ภานุพงศ์ ธนพล ชัยวัฒน์ วรวุฒิ สุทธิ บุญมี
        บุญส่ง ทองดี วิโรจน์ มานะ มานพ ปิติ ชูใจ สมหญิง มาลี กัญญา ปราณี สุดา สุนีย์ วนิดา ศิริพร สุภาพร
        อภิญญา ชนิดา พรทิพย์ รัตนา สมใจ บุญเรือน จันทร์ วรรณา นงลักษณ์ อรุณี ดวงใจ ลำดวน สุภาภรณ์ กนกวรรณ
        ปิยะ ปิยะดา สุกัญญา รัชนี เพ็ญศรี วิไล วิภา
    """,
    "Sinhala, Odia, Amharic, Khmer, Burmese; electoral rolls": """
        නිමල් සුනිල් කුමාර චමින්ද රුවන් දිලානි නිර්මලා කුමාරි සුනෙත්‍රා සරත් ଲକ୍ଷ୍ମୀ ସୁରେଶ ରମେଶ ମହେଶ ସରୋଜ
        ସୁନିତା አበበ ተስፋዬ በቀለ ኃይለ አለሙ ጌታቸው ታደሰ ሙሉጌታ ትዕግስት አልማዝ ሂሩት ሰላማዊት መሰረት ከበደ ሰለሞን ዳዊት សុខ សុភា ចាន់ណា
        វិសាល ស្រីមុំ အောင် ကျော် မြင့် သန်း ခင်
    """,
    "Georgian, Armenian; national registers": """
        გიორგი დავით ლევან ნიკა ზურაბ ირაკლი თამაზ ლაშა ნინო თამარ მარიამ ანა ქეთევან ნათია სალომე ნანა
        მაკა ეკა արմեն հայկ տիգրան գևորգ կարեն արթուր արամ վահան աշոտ հովհաննես գագիկ նարեկ դավիթ աննա
        մարիամ անահիտ անի հասմիկ գայանե լիլիթ նարե մարիա նունե աստղիկ
    """,
    "Chinese; Ministry of Public Security (CN), Ministry of the Interior (TW)": """
        建国 建华 建军 国强 志强 志刚 海燕 秀英 桂英 玉兰 玉梅 玉华 秀兰 桂兰 凤英 丽华 美玲 静怡 小明
        小红 伟强 晓明 晓燕 浩然 子涵 子轩 宇轩 梓涵 欣怡 雨桐 一诺 沐宸 俊杰 文杰 志明 淑芬 美惠 雅婷
        家豪 志豪 建宏 俊宏 怡君 欣怡 雅雯
    """,
    "Japanese; Meiji Yasuda's yearly lists": """
        太郎 次郎 三郎 一郎 健一 健太 翔太 大輔 大翔 翔 蓮 陽翔 悠真 湊 拓海 直樹 達也 和也 誠 隆 浩 茂 勇
        清 博 正 進 明 花子 恵子 和子 洋子 幸子 京子 陽子 裕子 久美子 由美子 智子 直子 明美 美咲 陽菜 結衣
        葵 さくら 愛 彩 七海 美優 真由美 香織
    """,
    "Korean; Supreme Court of Korea, statistics of names": """
        민준 서준 도윤 예준 시우 하준 지호 주원 지훈 준서 건우 현우 우진 성민 정훈 동현 성호 영호 영수
        철수 상호 경호 진호 민수 준호 서연 서윤 지우 하은 민서 지유 윤서 채원 수빈 지민 지현 은지 지은
        혜진 은정 미경 미숙 경숙 영희 순자 영자 정숙 명자 은주 수진
    """,
    "Japanese kana; Meiji Yasuda's yearly lists": """
        ひろし たかし けんじ あきら まこと たけし さとし ゆうき はると そうた ゆうと りく れん みなと
        たろう よしこ けいこ ゆみこ ともこ なおこ はなこ はるか ゆい あおい さくら みさき ななみ めい りん
        ひまり あかり ひな みお さとみ ゆうこ じゅんこ あゆみ
    """,
}
"""Names in other scripts by language and source, as written; compared in lower case without accents."""

CHINESE_FAMILY_NAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗高郑梁谢宋唐许邓韩冯曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖石金"
    "韦贾夏付方邹熊孟秦邱侯江尹薛闫段雷龙史陶贺毛郝顾龚邵万覃武钱戴严莫孔白常洪赖"
    "張劉陳楊黃趙吳孫馬羅鄭謝許鄧韓馮蕭葉蘇呂盧鐘譚陸賈鄒閻賀顧龔萬錢戴嚴賴簡游詹"
)
"""Family names of one character; Ministry of Public Security (CN), Ministry of the Interior (TW)."""

JAPANESE_FAMILY_NAMES = """
    佐藤 鈴木 高橋 田中 伊藤 渡辺 渡邊 山本 中村 小林 加藤 吉田 山田 佐々木 山口 松本 井上 木村 林 斎藤
    斉藤 清水 山崎 森 池田 橋本 阿部 石川 山下 中島 石井 小川 前田 岡田 長谷川 藤田 後藤 近藤 村上 遠藤
    青木 坂本 福田 太田 西村 藤井 金子 岡本 藤原 三浦 中野 中川 原田 松田 竹内 小野 田村 中山 和田 石田
    森田 上田 原 内田 柴田 酒井 宮崎 横山 高木 安藤 宮本 大野 小島 谷口 工藤 今井 高田 増田 丸山 杉山 村田
    大塚 新井 藤本 小山 平野 河野 上野 野口 武田 松井 千葉 菅原 岩崎 久保 木下 佐野 野村 松尾 市川 菊地
    杉本 古川 大西 島田 水野 桜井 高野 渡部 吉川 山内 西田 飯田 菊池 西川 小松 北村 安田 五十嵐 川口 平田
    関 中田 久保田 服部 東 岩田 土屋 川崎 福島 本田 辻 樋口 秋山 田口 永井 山中 川上 大久保 内藤 荒木 黒田
    高山 さとう すずき たかはし たなか いとう わたなべ やまもと なかむら こばやし かとう よしだ やまだ
    ささき やまぐち まつもと サトウ スズキ タカハシ タナカ イトウ ワタナベ ヤマモト ナカムラ コバヤシ
    カトウ ヨシダ ヤマダ ササキ ヤマグチ マツモト
"""
"""Family names that a Japanese name begins with; Meiji Yasuda's count of contracts."""

KOREAN_FAMILY_NAMES = (
    "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민진나엄원천방공"
)
"""Family names of one syllable; census of 2015 (KOSIS)."""

FAMILY_NAMES_FIRST = """
    nguyen tran pham huynh hoang phan vu vo dang bui ngo duong dinh doan wang zhang liu chen yang zhao
    huang zhou wu xu sun hu zhu gao lin guo luo zheng liang xie tang deng feng cao peng zeng xiao dong pan
    yuan cai jiang du cheng wei lu lyu ding shen yao cui zhong tan fan liao jia xia fu fang zou xiong meng
    qin qiu hou yin xue duan lei shao qian yan kong bai chang chiu hsu hsieh tsai cheung wong chan leung
    cheng lam lau kwok kwan chow yeung tsang chiang kim lee park choi jung kang cho yoon lim shin kwon
    hwang ahn song jeon jeong hong ryu seo bae baek yoo
"""
"""Family names of Vietnam, China and Korea in Latin letters that precede the given name."""


@cache
def given_names_by_script() -> frozenset[str]:
    """Return every listed given name of other scripts, as written."""
    return frozenset(name for names in GIVEN_NAMES_BY_SCRIPT.values() for name in names.split())
