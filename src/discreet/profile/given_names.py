"""Given names of persons in Latin letters, by language: a short list of our own, of what many people have.

Each list holds names that head the public statistics of its source, old and young people's, folded to ASCII.
They recognize columns of names, so a name is left out that means something else more often than a person
(``May``, ``Paris``); ``AMBIGUOUS`` has those that count only together with another word.
"""

from __future__ import annotations

from functools import cache

GIVEN_NAMES = {
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
"""Text of names by language and source."""

_AMBIGUOUS_TEXT = """
    abril alba angel asya aurora axel beat blanca bo can carmen charlotte christian dan deniz derya
    diya dolores dominique dov dwi elif esperanza eylul fleur florence florian franc frank georgia
    gil gloria guadalupe guy iris issa jade jan juma kim leon levi lourdes lovely made marina mark
    mercedes mina mona montserrat nana nora nur oscar per pia pilar ram rein rob rocio rok roman
    romano rosa rose saga said salvador santiago sofia soledad sri sultan tone tri trinidad unni
    usha vera victor viktoria zala
"""
AMBIGUOUS = frozenset(_AMBIGUOUS_TEXT.split())
"""Names that are also places, things, months, or words of other languages: one by itself is no sign."""


@cache
def given_names() -> frozenset[str]:
    """Every listed name, small and in ASCII."""
    return frozenset(name for names in GIVEN_NAMES.values() for name in names.split())
