/* English function words: what is in nearly every text, whatever it is about. Listed by word class. */
#include "features/text/text.h"

const char clv_english_stop_words[] =
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
