import { addDays, dayIn, fromStored, isDay } from '../dates.ts'
import { readAttachments } from '../fields/attachment-item.ts'
import { FILE_KINDS, isAllowedKind } from '../fields/attachment-kinds.ts'
import { isEmail, isPhone, isUrl } from '../fields/checked-text.ts'
import { titlesIn } from '../fields/choice-titles.ts'
import { formatDay } from '../fields/date-text.ts'
import { dayFormatOf, type Field } from '../fields/field.ts'
import type { CellValue, FormRuleSet } from '../fields/field-type.ts'
import { fieldType } from '../fields/index.ts'
import { readLinkIds } from '../fields/list-value.ts'
import { idsIn } from '../fields/people.ts'
import { formatValue } from '../fields/read.ts'
import { parseTime } from '../fields/time.ts'
import { hasMultipleChoices, holdsFiles, holdsPeople, isLinkType } from '../fields/traits.ts'
import { patternTest } from '../formula/match-pattern.ts'
import { readPattern } from '../formula/pattern.ts'
import type { LocalizedText } from '../message.ts'
import { m } from '../messages.gen.ts'
import type { FormRule } from './form.ts'

/** The field and form settings that a rule needs beside the answer. */
type RuleField = Pick<Field, 'type' | 'options'>

/** One kind of rule for answers. A new one is an entry of `FORM_RULES` and its example in the tests. */
export interface FormRuleType {
  key: string
  /** Label in the rule editor: "At least". */
  label: LocalizedText
  /** Kind of the rule's parameter; `none` for a rule without one. */
  input: 'none' | 'count' | 'number' | 'text' | 'day' | 'time' | 'kinds'
  /** True if the rule applies to the field. */
  fits(field: RuleField): boolean
  /** Error message for an invalid parameter; null if it is valid. */
  problem(value: FormRule['value']): string | null
  /** Error message for an answer that breaks the rule; null if it passes. Not called for empty answers. */
  broken(answer: CellValue, value: FormRule['value'], field: RuleField, moment: RuleMoment): string | null
}

const dayText = (field: RuleField, day: string): string => formatDay(day, dayFormatOf(field))

/** True for fields whose type allows rules of the set. */
const takes =
  (set: FormRuleSet) =>
  ({ type }: RuleField): boolean =>
    fieldType(type).formRules?.includes(set) === true

const holdsDays = ({ type }: RuleField): boolean => {
  const { storage, readOnly } = fieldType(type)
  return (storage === 'date' || storage === 'datetime') && !readOnly
}

const isTime = ({ type }: RuleField): boolean => fieldType(type).storage === 'time'

const alwaysValid = (): null => null

const countProblem = (value: FormRule['value']): string | null =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 1_000_000
    ? null
    : m.form_rule_enter_whole_number()

const numberProblem = (value: FormRule['value']): string | null =>
  typeof value === 'number' && Number.isFinite(value) ? null : m.form_rule_enter_a_number()

const textProblem = (value: FormRule['value']): string | null =>
  typeof value === 'string' && value !== '' ? null : m.form_rule_enter_a_text()

const dayProblem = (value: FormRule['value']): string | null =>
  typeof value === 'string' && isRuleDay(value) ? null : m.form_rule_enter_date()

const timeProblem = (value: FormRule['value']): string | null =>
  typeof value === 'string' && parseTime(value) !== null ? null : m.form_rule_enter_time()

/** Code points: a simple emoji is one, a flag or family several. */
const lengthOf = (answer: CellValue): number => [...String(answer)].length

const holds = (answer: CellValue, value: FormRule['value']): boolean =>
  String(answer).toLowerCase().includes(String(value).toLowerCase())

/** Number of selected options, people or linked records in an answer. */
function countSelected(answer: CellValue, field: RuleField): number {
  if (hasMultipleChoices(field)) return titlesIn(String(answer ?? '')).length
  if (holdsPeople(field)) return idsIn(answer).length
  return readLinkIds(answer)?.length ?? 0
}

const allowsSeveral = (field: RuleField): boolean =>
  hasMultipleChoices(field) ||
  (holdsPeople(field) && field.options.multiple === true) ||
  (isLinkType(field) && (field.options.kind === 'mm' || field.options.kind === 'hm'))

/** True if `answer` is a multiple of `step`, within floating-point tolerance. */
function isStep(answer: number, step: number): boolean {
  const steps = answer / step
  return Math.abs(steps - Math.round(steps)) < 1e-9 * Math.max(1, Math.abs(steps))
}

const kindsOf = (value: FormRule['value']) =>
  FILE_KINDS.filter(({ key }) =>
    String(value ?? '')
      .split(',')
      .includes(key),
  )

const patterns = new Map<string, ReturnType<typeof patternTest>>()

function fitsPattern(answer: string, pattern: string): boolean {
  let test = patterns.get(pattern)
  if (test === undefined) {
    if (patterns.size > 500) patterns.clear()
    test = patternTest(pattern)
    patterns.set(pattern, test)
  }
  return test === null || test(answer)
}

/** All rules in menu order. */
export const FORM_RULES: readonly FormRuleType[] = [
  {
    key: 'minLength',
    label: m.form_rule_min_length,
    input: 'count',
    fits: takes('text'),
    problem: countProblem,
    broken: (answer, n) => (lengthOf(answer) >= Number(n) ? null : m.answer_too_short({ count: Number(n) })),
  },
  {
    key: 'maxLength',
    label: m.form_rule_max_length,
    input: 'count',
    fits: takes('text'),
    problem: countProblem,
    broken: (answer, n) => (lengthOf(answer) <= Number(n) ? null : m.answer_too_long({ count: Number(n) })),
  },
  {
    key: 'contains',
    label: m.form_rule_contains,
    input: 'text',
    fits: takes('text'),
    problem: textProblem,
    broken: (answer, value) => (holds(answer, value) ? null : m.answer_must_contain({ text: String(value) })),
  },
  {
    key: 'notContains',
    label: m.form_rule_not_contains,
    input: 'text',
    fits: takes('text'),
    problem: textProblem,
    broken: (answer, value) =>
      holds(answer, value) ? m.answer_must_not_contain({ text: String(value) }) : null,
  },
  {
    key: 'pattern',
    label: m.form_rule_pattern,
    input: 'text',
    fits: takes('text'),
    problem(value) {
      const read = readPattern(typeof value === 'string' ? value : '')
      return read.ok ? null : read.message
    },
    broken: (answer, value) =>
      fitsPattern(String(answer), String(value)) ? null : m.answer_does_not_match_pattern(),
  },
  {
    key: 'email',
    label: m.form_rule_email,
    input: 'none',
    fits: takes('email'),
    problem: alwaysValid,
    broken: (answer) => (isEmail(String(answer)) ? null : m.answer_not_an_email()),
  },
  {
    key: 'url',
    label: m.form_rule_url,
    input: 'none',
    fits: takes('url'),
    problem: alwaysValid,
    broken: (answer) => (isUrl(String(answer)) ? null : m.answer_not_a_url()),
  },
  {
    key: 'phone',
    label: m.form_rule_phone,
    input: 'none',
    fits: takes('phone'),
    problem: alwaysValid,
    broken: (answer) => (isPhone(String(answer)) ? null : m.answer_not_a_phone_number()),
  },
  {
    key: 'min',
    label: m.form_rule_min,
    input: 'number',
    fits: takes('number'),
    problem: numberProblem,
    broken: (answer, least, field) =>
      Number(answer) >= Number(least) ? null : m.answer_below_minimum({ n: formatValue(field, least) }),
  },
  {
    key: 'max',
    label: m.form_rule_max,
    input: 'number',
    fits: takes('number'),
    problem: numberProblem,
    broken: (answer, most, field) =>
      Number(answer) <= Number(most) ? null : m.answer_above_maximum({ n: formatValue(field, most) }),
  },
  {
    key: 'step',
    label: m.form_rule_step,
    input: 'number',
    fits: takes('step'),
    problem: (value) =>
      numberProblem(value) ?? (Number(value) > 0 ? null : m.form_rule_enter_a_step_greater_than_0()),
    broken: (answer, step, field) =>
      isStep(Number(answer), Number(step)) ? null : m.answer_not_a_multiple({ n: formatValue(field, step) }),
  },
  {
    key: 'from',
    label: m.form_rule_from,
    input: 'day',
    fits: holdsDays,
    problem: dayProblem,
    broken(answer, value, field, moment) {
      const [limit, given] = [resolveDays(String(value), field, moment), resolveDays(answer, field, moment)]
      return given.last >= limit.first
        ? null
        : m.answer_day_too_early({ day: limit.label ?? dayText(field, limit.first) })
    },
  },
  {
    key: 'to',
    label: m.form_rule_to,
    input: 'day',
    fits: holdsDays,
    problem: dayProblem,
    broken(answer, value, field, moment) {
      const [limit, given] = [resolveDays(String(value), field, moment), resolveDays(answer, field, moment)]
      return given.first <= limit.last
        ? null
        : m.answer_day_too_late({ day: limit.label ?? dayText(field, limit.last) })
    },
  },
  {
    key: 'fromTime',
    label: m.form_rule_from_time,
    input: 'time',
    fits: isTime,
    problem: timeProblem,
    broken: (answer, value) =>
      String(answer) >= String(parseTime(String(value)))
        ? null
        : m.answer_time_too_early({ time: String(value) }),
  },
  {
    key: 'toTime',
    label: m.form_rule_to_time,
    input: 'time',
    fits: isTime,
    problem: timeProblem,
    broken: (answer, value) =>
      String(answer) <= String(parseTime(String(value)))
        ? null
        : m.answer_time_too_late({ time: String(value) }),
  },
  {
    key: 'minChosen',
    label: m.form_rule_min_chosen,
    input: 'count',
    fits: allowsSeveral,
    problem: countProblem,
    broken: (answer, n, field) =>
      countSelected(answer, field) >= Number(n) ? null : m.answer_too_few_selected({ count: Number(n) }),
  },
  {
    key: 'maxChosen',
    label: m.form_rule_max_chosen,
    input: 'count',
    fits: allowsSeveral,
    problem: countProblem,
    broken: (answer, n, field) =>
      countSelected(answer, field) <= Number(n) ? null : m.answer_too_many_selected({ count: Number(n) }),
  },
  {
    key: 'minFiles',
    label: m.form_rule_min_files,
    input: 'count',
    fits: holdsFiles,
    problem: countProblem,
    broken: (answer, n) =>
      readAttachments(answer).length >= Number(n) ? null : m.answer_too_few_files({ count: Number(n) }),
  },
  {
    key: 'maxFiles',
    label: m.form_rule_max_files,
    input: 'count',
    fits: holdsFiles,
    problem: countProblem,
    broken: (answer, n) =>
      readAttachments(answer).length <= Number(n) ? null : m.answer_too_many_files({ count: Number(n) }),
  },
  {
    key: 'fileKinds',
    label: m.form_rule_file_kinds,
    input: 'kinds',
    fits: holdsFiles,
    problem: (value) => (kindsOf(value).length > 0 ? null : m.form_rule_choose_at_least_one_file_type()),
    broken(answer, value) {
      const kinds = kindsOf(value).map(({ key }) => key)
      const odd = readAttachments(answer).find(({ mimetype }) => !isAllowedKind(mimetype, kinds))
      return odd ? m.answer_file_kind_not_allowed({ file: odd.title }) : null
    },
  },
  {
    key: 'maxFileMb',
    label: m.form_rule_max_file_mb,
    input: 'number',
    fits: holdsFiles,
    problem: (value) =>
      numberProblem(value) ?? (Number(value) > 0 ? null : m.form_rule_enter_a_size_greater_than_0()),
    broken(answer, value) {
      const large = readAttachments(answer).find(({ size }) => size > Number(value) * 1024 ** 2)
      return large ? m.answer_file_too_large({ file: large.title, n: Number(value) }) : null
    },
  },
]

const BY_KEY: ReadonlyMap<string, FormRuleType> = new Map(FORM_RULES.map((rule) => [rule.key, rule]))

/** Finds a rule by key; else null. */
export const findRule = (key: string): FormRuleType | null => BY_KEY.get(key) ?? null

/** The rules that apply to a field, in menu order. */
export const rulesFor = (field: RuleField): FormRuleType[] => FORM_RULES.filter((rule) => rule.fits(field))

/** Time and time zone for evaluating date rules. */
interface RuleMoment {
  now: Date
  /** IANA zone of the respondent; absent if unknown. */
  timeZone?: string
}

/** A day, or the range of days that it may be in any time zone if the zone is unknown. */
interface DaySpan {
  first: string
  last: string
  /** How messages name the limit; null: by its date. */
  label: string | null
}

/** True for a valid limit of a date rule: a stored day or `today`. */
const isRuleDay = (text: string): boolean => text === 'today' || isDay(text)

/**
 * The days of a limit or an answer: `today`, a stored day or a stored instant. Without a time zone, the
 * server accepts any answer that is valid somewhere; the browser checks with its own zone.
 */
function resolveDays(
  value: CellValue,
  { type, options }: Pick<Field, 'type' | 'options'>,
  { now, timeZone }: RuleMoment,
): DaySpan {
  const text = String(value)
  if (text === 'today') return { ...daysAround(now.getTime(), timeZone ?? null), label: m.answer_today() }
  const ms = isDay(text) ? null : fromStored(text)
  if (ms === null) return { first: text, last: text, label: null }
  const own =
    fieldType(type).storage === 'datetime' && typeof options.timeZone === 'string'
      ? options.timeZone
      : 'local'
  return { ...daysAround(ms, own === 'local' ? (timeZone ?? null) : own), label: null }
}

function daysAround(ms: number, zone: string | null): { first: string; last: string } {
  const day = dayIn(ms, zone ?? 'UTC')
  if (zone !== null) return { first: day, last: day }
  return { first: addDays(day, -1), last: addDays(day, 1) }
}
