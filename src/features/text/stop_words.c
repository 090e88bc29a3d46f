/* Function words of some languages: what is in nearly every text, whatever it is about. Listed by word class. Words are
 * as words.c finds them: in lower case, of two letters or more, cut at apostrophes. */
#include "features/text/text.h"

#include <string.h>

static const char english[] =
    /* articles, determiners, quantifiers */
    "the an this that these those some any no every each either neither both all another other others such same "
    "few fewer many more most much less least several enough none half own whole "
    /* personal, possessive and reflexive pronouns */
    "me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers "
    "herself it its itself they them their theirs themselves one ones oneself "
    /* indefinite and interrogative pronouns */
    "someone somebody something anyone anybody anything everyone everybody everything nobody nothing who whom whose "
    "whoever whomever what whatever which whichever "
    /* to be, to have, to do, modal verbs */
    "be am is are was were been being have has had having do does did doing done can could may might must shall should "
    "will would ought cannot "
    /* what is left of n't, 'll, 've, 're after the apostrophe */
    "ll ve re don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn mustn "
    /* prepositions */
    "about above across after against along alongside amid among amongst around as at before behind below beneath "
    "beside besides between beyond by despite down during except for from in inside into like near of off on onto "
    "out outside over past per since than through throughout till to toward towards under until unto up upon via "
    "with within without "
    /* conjunctions */
    "and but or nor so yet if unless because although though whereas while whether "
    /* adverbs of place, time, degree, manner and connection */
    "here there where hereby therefore thereby therein thereof wherein whereby wherever anywhere everywhere nowhere "
    "somewhere elsewhere now then when whenever once again ever never always often sometimes already still just also "
    "too very quite rather almost only even how however why thus hence else otherwise instead indeed perhaps maybe "
    "together apart away back further moreover furthermore nevertheless nonetheless meanwhile not yes ";

static const char german[] =
    /* articles, pronouns, determiners */
    "der die das des dem den ein eine einer eines einem einen kein keine keiner keines keinem keinen ich du er sie es "
    "wir ihr mich dich ihn uns euch mir dir ihm ihnen sich mein meine meiner meines meinem meinen dein deine deiner "
    "deines deinem deinen sein seine seiner seines seinem seinen ihre ihrer ihres ihrem ihren unser unsere unserer "
    "unseres unserem unseren euer eure eurer eures eurem euren dieser diese dieses diesem diesen jener jene jenes "
    "jenem "
    "jenen jeder jede jedes jedem jeden alle aller alles allem allen einige einiger einiges einigem einigen manche "
    "mancher manches manchem manchen solche solcher solches solchem solchen welche welcher welches welchem welchen "
    "andere anderer anderes anderem anderen viel viele vieler vielen wenig wenige mehr etwas nichts man wer wen wem "
    "wessen was selbst beide beiden derselbe dieselbe dasselbe niemand jemand "
    /* verbs that help others */
    "bin bist ist sind seid war warst waren wart gewesen habe hast hat haben habt hatte hatten hattest gehabt werde "
    "wirst wird werden werdet wurde wurden worden würde würden kann kannst können konnte konnten "
    "könnte könnten muss musst müssen musste mussten darf dürfen durfte soll sollen sollte "
    "sollten will wollen wollte wollten mag mögen möchte "
    /* prepositions and what they become */
    "ab an am ans auf aus außer bei beim bis durch für gegen hinter in im ins mit nach neben ohne seit über "
    "um unter von vom vor während wegen zu zum zur zwischen "
    /* conjunctions */
    "und oder aber denn sondern dass daß ob wenn weil als wie obwohl bevor nachdem damit indem falls sowie weder noch "
    "entweder sowohl "
    /* adverbs and particles */
    "nicht ja nein auch nur schon sehr so hier da dort dann jetzt nun immer wieder nie wo woher wohin wann warum "
    "wieso daher darum deshalb doch also etwa zwar dabei dafür dagegen damals danach daran darauf daraus darin "
    "davon davor dazu hin her hinaus ganz gar kaum fast eben einmal mal sonst jedoch";

static const char french[] =
    /* articles, pronouns, determiners */
    "le la les un une des du de au aux je tu il elle on nous vous ils elles me te se lui leur leurs moi toi soi eux "
    "mon ma mes ton ta tes son sa ses notre nos votre vos ce cet cette ces ceci cela ça celui celle ceux celles qui "
    "que quoi dont où qu quel quelle quels quelles lequel laquelle lesquels lesquelles auquel duquel chaque tout "
    "toute tous toutes autre autres aucun aucune certain certains certaine certaines plusieurs quelque quelques même "
    "mêmes tel telle tels telles rien personne en "
    /* verbs that help others */
    "suis es est sommes êtes sont étais était étions étiez étaient été "
    "être serai sera serons seront serait seraient sois soit soient fut furent ai as avons avez ont avais avait "
    "avions aviez avaient eu avoir aurai aura aurons auront aurait auraient ait aient fait faire fais font peut peux "
    "pouvons peuvent pouvait pourrait doit doivent devait va vais vont "
    /* prepositions */
    "après avant avec chez contre dans depuis derrière devant dès durant entre envers hors jusque "
    "jusqu malgré par parmi pendant pour sans sauf selon sous sur vers voici voilà "
    /* conjunctions and adverbs */
    "et ou ni mais or donc car si comme quand lorsque lorsqu puisque puisqu parce ainsi alors aussi aujourd hui ne pas "
    "plus moins très trop peu beaucoup bien encore déjà jamais toujours souvent ici là puis ensuite "
    "enfin cependant pourtant toutefois tant tellement comment pourquoi oui non seulement presque plutôt";

static const char spanish[] =
    /* articles, pronouns, determiners */
    "el la los las lo un una unos unas al del yo tú él ella ello nosotros nosotras vosotros vosotras ellos ellas "
    "usted ustedes me te se le les nos os mí ti sí conmigo contigo consigo mi mis tu tus su sus nuestro nuestra "
    "nuestros nuestras vuestro vuestra vuestros vuestras suyo suya suyos suyas este esta estos estas esto ese esa esos "
    "esas eso aquel aquella aquellos aquellas aquello que quién quien quienes cual cuál cuales cuyo cuya cuyos "
    "cuyas qué cada todo toda todos todas otro otra otros otras algún alguno alguna algunos algunas ningún "
    "ninguno ninguna nada nadie algo alguien mucho mucha muchos muchas poco poca pocos pocas varios varias mismo misma "
    "mismos mismas tal tales "
    /* verbs that help others */
    "ser soy eres es somos sois son era eras éramos eran fui fue fuimos fueron sea sean será serán "
    "sería sido siendo estar estoy estás está estamos están estaba estaban estuvo estado haber he "
    "has ha hemos han había habían hubo hay haya habrá habría habido tener tengo tiene tienen "
    "tenía puede pueden podía debe deben hacer hace "
    /* prepositions */
    "ante bajo con contra de desde durante en entre hacia hasta mediante para por según sin sobre tras "
    /* conjunctions and adverbs */
    "ni pero sino aunque porque pues si como cuando donde mientras así luego entonces no más menos muy tan tanto "
    "también tampoco ya aún todavía siempre nunca jamás aquí ahí allí hoy ahora antes "
    "después cómo cuándo dónde sólo solo casi bien además";

static const char italian[] =
    /* articles, with the prepositions that they join */
    "il lo la gli le un uno una del dello della dei degli delle dell al allo alla ai agli alle all dal dallo dalla dai "
    "dagli dalle dall nel nello nella nei negli nelle nell sul sullo sulla sui sugli sulle sull col coi "
    /* pronouns and determiners */
    "io tu lui lei egli ella esso essa noi voi loro essi esse mi ti ci vi si me te ne li mio mia miei mie tuo tua tuoi "
    "tue suo sua suoi sue nostro nostra nostri nostre vostro vostra vostri vostre questo questa questi queste quest "
    "quello quella quelli quelle quell quel quei quegli ciò che chi cui quale quali quanto quanta quanti quante ogni "
    "ognuno tutto tutta tutti tutte altro altra altri altre alcuno alcuna alcuni alcune nessuno nessuna niente nulla "
    "qualche qualcuno qualcosa molto molta molti molte poco poca pochi poche stesso stessa stessi stesse tale tali "
    /* verbs that help others */
    "essere sono sei siamo siete ero era eravamo erano fu furono sia siano sarò sarà saranno sarebbe stato "
    "stata stati state avere ho hai ha abbiamo avete hanno avevo aveva avevano ebbe abbia abbiano avrà avrebbe avuto "
    "fare fa fatto può possono poteva deve devono doveva "
    /* prepositions */
    "di da in con su per tra fra senza sotto sopra verso contro dopo prima durante presso oltre fino "
    /* conjunctions and adverbs */
    "ed ma anche se perché poiché quando come dove mentre però dunque quindi oppure né cioè "
    "affinché benché non più meno così tanto troppo già ancora sempre mai qui qua lì là "
    "ora adesso poi allora solo soltanto quasi bene infatti invece pure sì no";

static const char portuguese[] =
    /* articles, with the prepositions that they join */
    "os as um uma uns umas ao aos às do da dos das no na nos nas num numa pelo pela pelos pelas dum duma "
    /* pronouns and determiners */
    "eu tu ele ela nós vós eles elas você vocês me te se lhe lhes vos mim ti si comigo contigo consigo "
    "meu minha meus minhas teu tua teus tuas seu sua seus suas nosso nossa nossos nossas vosso vossa dele dela deles "
    "delas "
    "este esta estes estas isto esse essa esses essas isso aquele aquela aqueles aquelas aquilo deste desta disto "
    "desse "
    "dessa disso neste nesta nisto nesse nessa nisso que quem qual quais cujo cuja cujos cujas cada todo toda todos "
    "todas "
    "tudo outro outra outros outras algum alguma alguns algumas nenhum nenhuma nada ninguém algo alguém muito "
    "muita muitos muitas pouco pouca poucos poucas vários várias mesmo mesma mesmos mesmas tal tais "
    /* verbs that help others */
    "ser sou és somos são era éramos eram fui foi fomos foram seja sejam será serão seria sido "
    "sendo estar estou está estamos estão estava estavam esteve estado ter tenho tem temos têm tinha tinham "
    "teve tiveram terá teria tido haver há havia houve pode podem podia deve devem fazer faz "
    /* prepositions */
    "de em por para com sem sob sobre até ante após contra desde durante entre perante segundo "
    /* conjunctions and adverbs */
    "ou nem mas porque pois como quando onde enquanto embora porém contudo todavia portanto logo não mais menos "
    "tão tanto também já ainda sempre nunca jamais aqui ali lá aí hoje agora então antes "
    "depois assim só apenas quase bem além sim";

static const char dutch[] =
    /* articles, pronouns, determiners */
    "de het een ik jij je hij zij ze wij we jullie mij me jou hem haar ons hen hun zich mijn jouw zijn onze uw deze "
    "dit "
    "die dat zo zulk zulke welk welke wie wat wiens er elk elke ieder iedere iedereen alle alles al allen ander andere "
    "anderen enkele enige veel vele meer meest weinig iets niets niemand iemand men zelf zichzelf beide geen "
    /* verbs that help others */
    "ben bent is was waren geweest heb hebt heeft hebben had hadden gehad word wordt worden werd werden geworden zal "
    "zult "
    "zullen zou zouden kan kunt kunnen kon konden moet moeten moest moesten mag mogen mocht mochten wil wilt willen "
    "wilde "
    "wilden doe doet doen deed gedaan "
    /* prepositions */
    "aan achter af bij binnen boven buiten door in langs met na naar naast om onder op over per rond sinds te tegen "
    "ten "
    "ter tijdens tot tussen uit van vanaf vanuit via volgens voor voorbij wegens zonder "
    /* conjunctions */
    "en of maar want dus doch noch omdat doordat terwijl als dan toen indien tenzij hoewel zodat voordat nadat "
    /* adverbs and particles */
    "niet wel ja nee ook nog nu alleen altijd nooit vaak soms hier daar waar waarom wanneer hoe zeer heel erg zeker "
    "toch weer eens even bijna echter daarom daardoor daarbij daarin daarna daarvan hierbij hierin waarbij waarin "
    "waarvan "
    "immers misschien reeds slechts ooit steeds";

static const struct {
    const char *language, *words;
} lists[] = {{"none", ""},         {"english", english}, {"german", german},         {"french", french},
             {"spanish", spanish}, {"italian", italian}, {"portuguese", portuguese}, {"dutch", dutch}};

const char *clv_stop_words(const char *language) {
    for (size_t i = 0; i < CLV_COUNT(lists); i++) {
        if (strcmp(lists[i].language, language) == 0) {
            return lists[i].words;
        }
    }
    return NULL;
}
