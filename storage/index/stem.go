package index

import (
	"strings"

	"github.com/kljensen/snowball/english"
)

// lexicon knows words and remembers what it found out: the words of a language
// repeat, and a stem costs a hundred times a look-up.
type lexicon map[string]word

// word is what search knows of a folded term.
type word struct {
	// stem is its English stem. A term that is no English word (digits,
	// underscores, other scripts) is its own stem.
	stem string
	// stop is whether it holds no meaning by itself.
	stop bool
	// self is whether it says "I".
	self bool
}

func (l lexicon) word(term string) word {
	if have, ok := l[term]; ok {
		return have
	}
	w := word{stem: term, stop: stopWord(term), self: among(term, " i i'm i've i'd i'll me my we we're we've our ")}
	if len(term) > 2 && englishWord(term) {
		if stem := english.Stem(regular(term), true); stem != "" {
			w.stem = stem
		}
	}
	l[term] = w
	return w
}

func englishWord(term string) bool {
	for i := range len(term) {
		if c := term[i]; (c < 'a' || c > 'z') && c != '\'' {
			return false
		}
	}
	return true
}

// irregular are forms of English words that share no stem with the word. Forms
// that are more often another word ("ground", "wound") are not among them.
const irregular = " went=go gone=go said=say got=get gotten=get made=make knew=know known=know thought=think took=take taken=take " +
	"saw=see seen=see came=come found=find gave=give given=give told=tell felt=feel became=become left=leave " +
	"meant=mean kept=keep began=begin begun=begin shown=show heard=hear ran=run held=hold brought=bring " +
	"wrote=write written=write sat=sit stood=stand lost=lose paid=pay met=meet led=lead understood=understand " +
	"spoke=speak spoken=speak spent=spend grew=grow grown=grow won=win bought=buy taught=teach caught=catch " +
	"fought=fight sought=seek sold=sell sent=send built=build fell=fall fallen=fall flew=fly flown=fly drove=drive " +
	"driven=drive rode=ride ridden=ride broke=break broken=break chose=choose chosen=choose ate=eat eaten=eat " +
	"drank=drink drunk=drink sang=sing sung=sing swam=swim swum=swim slept=sleep wore=wear worn=wear drew=draw " +
	"drawn=draw threw=throw thrown=throw forgot=forget forgotten=forget hid=hide hidden=hide bit=bite bitten=bite " +
	"stole=steal stolen=steal woke=wake woken=wake froze=freeze frozen=freeze tore=tear torn=tear swore=swear " +
	"sworn=swear shook=shake shaken=shake risen=rise blew=blow blown=blow rang=ring rung=ring sank=sink sunk=sink " +
	"shrank=shrink shrunk=shrink sprang=spring sprung=spring struck=strike hung=hang dug=dig spun=spin shot=shoot " +
	"slid=slide fed=feed bred=breed bled=bleed fled=flee bent=bend lent=lend dealt=deal dreamt=dream leant=lean " +
	"learnt=learn burnt=burn spelt=spell smelt=smell spilt=spill spoilt=spoil knelt=kneel crept=creep swept=sweep " +
	"wept=weep shone=shine children=child men=man women=woman feet=foot teeth=tooth mice=mouse geese=goose " +
	"wives=wife knives=knife halves=half shelves=shelf wolves=wolf better=good best=good worse=bad worst=bad " +
	"further=far farther=far furthest=far "

// regular returns the word that an irregular form is of, and others unchanged.
func regular(term string) string {
	_, after, ok := strings.Cut(irregular, " "+term+"=")
	if !ok {
		return term
	}
	word, _, _ := strings.Cut(after, " ")
	return word
}

// stopWords are English words that every text has.
const stopWords = " a about all am an and any are as at be been but by can could did do does for from had has have he her him his how i if in is it its just me my no not of on or our she should so some than that the their them then there these they this those to was we were what when where which who why will with would you your" +
	" i'm i've i'll i'd you're you've you'll you'd he's he'll he'd she's she'll she'd it's it'll we're we've we'll we'd they're they've they'll they'd that's there's what's who's where's when's how's let's" +
	" don't doesn't didn't isn't aren't wasn't weren't can't couldn't won't wouldn't shouldn't haven't hasn't hadn't "

// stopWord reports whether a folded term holds no meaning by itself.
func stopWord(term string) bool { return among(term, stopWords) }

// among reports whether a term is in a list that has spaces around each.
func among(term, list string) bool { return strings.Contains(list, " "+term+" ") }
