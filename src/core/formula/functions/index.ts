import { abs } from './abs.ts'
import { add } from './add.ts'
import { and } from './and.ts'
import { avg } from './avg.ts'
import { blank } from './blank.ts'
import { ceiling } from './ceiling.ts'
import { concat } from './concat.ts'
import { count } from './count.ts'
import { countA } from './count-a.ts'
import { countAll } from './count-all.ts'
import { dateAdd } from './date-add.ts'
import { dateStr } from './date-str.ts'
import { dateTimeDiff } from './date-time-diff.ts'
import { datetimeParse } from './datetime-parse.ts'
import { day } from './day.ts'
import type { FormulaFunction } from './define.ts'
import { even } from './even.ts'
import { exp } from './exp.ts'
import { falseFunction } from './false.ts'
import { floor } from './floor.ts'
import { hour } from './hour.ts'
import { ifFunction } from './if.ts'
import { int } from './int.ts'
import { left } from './left.ts'
import { len } from './len.ts'
import { log } from './log.ts'
import { lower } from './lower.ts'
import { max } from './max.ts'
import { mid } from './mid.ts'
import { min } from './min.ts'
import { mod } from './mod.ts'
import { month } from './month.ts'
import { now } from './now.ts'
import { odd } from './odd.ts'
import { or } from './or.ts'
import { power } from './power.ts'
import { recordId } from './record-id.ts'
import { regexExtract } from './regex-extract.ts'
import { regexMatch } from './regex-match.ts'
import { regexReplace } from './regex-replace.ts'
import { repeat } from './repeat.ts'
import { replace } from './replace.ts'
import { right } from './right.ts'
import { round } from './round.ts'
import { roundDown } from './round-down.ts'
import { roundUp } from './round-up.ts'
import { search } from './search.ts'
import { sqrt } from './sqrt.ts'
import { substr } from './substr.ts'
import { switchFunction } from './switch.ts'
import { trim } from './trim.ts'
import { trueFunction } from './true.ts'
import { upper } from './upper.ts'
import { url } from './url.ts'
import { value } from './value.ts'
import { weekday } from './weekday.ts'
import { xor } from './xor.ts'

/** Every function of formulas (spec §5). A new one is a file in this folder and a line here. */
export const FUNCTIONS: readonly FormulaFunction[] = [
  abs,
  sqrt,
  exp,
  log,
  power,
  mod,
  ceiling,
  floor,
  int,
  round,
  roundUp,
  roundDown,
  even,
  odd,
  add,
  avg,
  min,
  max,
  count,
  countA,
  countAll,
  value,
  concat,
  trim,
  upper,
  lower,
  len,
  left,
  right,
  substr,
  mid,
  repeat,
  replace,
  search,
  url,
  regexMatch,
  regexExtract,
  regexReplace,
  ifFunction,
  switchFunction,
  and,
  or,
  xor,
  trueFunction,
  falseFunction,
  blank,
  recordId,
  now,
  day,
  month,
  hour,
  weekday,
  dateStr,
  dateAdd,
  dateTimeDiff,
  datetimeParse,
]

const BY_NAME = new Map(FUNCTIONS.map((entry) => [entry.name, entry]))

/** The function of that name, in capitals; null where there is none. */
export const findFunction = (name: string): FormulaFunction | null => BY_NAME.get(name) ?? null
