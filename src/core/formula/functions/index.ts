import { add, avg, count, countA, countAll, max, min } from './aggregates.ts'
import { dateAdd, dateStr, dateTimeDiff, datetimeParse, day, hour, month, now, weekday } from './dates.ts'
import type { FormulaFunction } from './define.ts'
import {
  and,
  blank,
  falseFunction,
  ifFunction,
  or,
  recordId,
  switchFunction,
  trueFunction,
  xor,
} from './logic.ts'
import { abs, exp, log, mod, power, sqrt } from './math.ts'
import { regexExtract, regexMatch, regexReplace } from './regex.ts'
import { ceiling, even, floor, int, odd, round, roundDown, roundUp } from './rounding.ts'
import {
  concat,
  left,
  len,
  lower,
  mid,
  repeat,
  replace,
  right,
  search,
  substr,
  trim,
  upper,
  url,
  value,
} from './text.ts'

/** Every formula function (spec §5), in the order of the editor's list. */
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

/** Finds a function by its name in capitals; null if unknown. */
export const findFunction = (name: string): FormulaFunction | null => BY_NAME.get(name) ?? null
