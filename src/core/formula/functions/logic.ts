import { fromStored } from '../../dates.ts'
import { m } from '../../messages.gen.ts'
import type { Expression } from '../ast.ts'
import type { Build, Value } from '../build.ts'
import { areSame, compileSame } from '../comparing.ts'
import { argument, type Datum, defineFunction, NO_REGEX } from './define.ts'

/** False for the condition that is never true. */
const canHold = (condition: Expression): boolean => condition.kind !== 'literal' || condition.value !== false

/** The second value where the condition holds, else the third. */
export const ifFunction = defineFunction({
  name: 'IF',
  syntax: 'IF(condition, then, [else])',
  help: m.formula_if_help,
  failure: ([condition, yes, no], { failureOf, anyOf, otherwise, call }) => {
    if (!condition || !yes) return otherwise
    const branches = [failureOf(yes), no ? failureOf(no) : otherwise]
    if (!canHold(anyOf(branches))) return failureOf(condition)
    return anyOf([failureOf(condition), call('IF', [condition, ...branches])])
  },
  examples: { 'IF(1 < 2, "yes", "no")': 'yes', 'IF("", 1)': null },
  args: ['condition', 'result', 'result'],
  min: 2,
  returns: (types) => types[1] ?? 'null',
  evaluate: ([condition, yes, no]) => (condition === true ? (yes ?? null) : (no ?? null)),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const yes = argument(args, 1, build, 'null')
    return build.words.choose(
      [[argument(args, 0, build, 'boolean').sql, yes.sql]],
      argument(args, 2, build, yes.type).sql,
    )
  },
})

/** The result behind the first case that equals the value, else the last one. */
export const switchFunction = defineFunction({
  name: 'SWITCH',
  syntax: 'SWITCH(value, case, result, …, [else])',
  help: m.formula_switch_help,
  failure: ([subject, ...rest], { failureOf, anyOf, otherwise, call }) => {
    if (!subject) return otherwise
    const last = rest.length % 2 === 1 ? rest.length - 1 : -1
    const isResult = (at: number) => at % 2 === 1 || at === last
    const matches = [subject, ...rest.filter((_, at) => !isResult(at))].map(failureOf)
    const results = rest.filter((_, at) => isResult(at)).map(failureOf)
    if (!canHold(anyOf(results))) return anyOf(matches)
    const cases = rest.map((arg, at) => (isResult(at) ? (results.shift() ?? otherwise) : arg))
    const chosen = call('SWITCH', [subject, ...cases, ...(last < 0 ? [otherwise] : [])])
    return anyOf([...matches, chosen])
  },
  examples: { 'SWITCH(2, 1, "one", 2, "two", "many")': 'two', 'SWITCH("x", "y", 1)': null },
  args: ['match'],
  rest: ['match', 'result'],
  min: 3,
  returns: (types) => types[2] ?? 'null',
  evaluate: ([value = null, ...rest], _moment, types) => {
    for (let at = 0; at + 1 < rest.length; at += 2) {
      if (areSame(value, rest[at] ?? null, [types[0], types[at + 1]])) return rest[at + 1] ?? null
    }
    return rest.length % 2 === 1 ? (rest[rest.length - 1] ?? null) : null
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const [value, ...rest] = args
    const { words } = build
    if (!value) return words.nothing('null')
    return build.once([value], (subject) => {
      const cases: [S, S][] = []
      for (let at = 0; at + 1 < rest.length; at += 2) {
        const [match, result] = [rest[at], rest[at + 1]]
        if (match && result)
          cases.push([compileSame({ ...value, sql: subject, isSimple: true }, match, build), result.sql])
      }
      const last = rest.length % 2 === 1 ? rest[rest.length - 1] : undefined
      return words.choose(cases, last?.sql ?? words.nothing(rest[1]?.type ?? 'null'))
    })
  },
})

/** Whether all conditions hold. */
export const and = defineFunction({
  name: 'AND',
  syntax: 'AND(condition, …)',
  help: m.formula_and_help,
  examples: { 'AND(1 < 2, true)': true, 'AND(true, "")': false },
  args: [],
  rest: ['condition'],
  min: 1,
  returns: 'boolean',
  evaluate: (args) => args.every((arg) => arg === true),
  compile: (args, build) => build.words.and(args.map(({ sql }) => sql)),
})

/** Whether one of the conditions holds. */
export const or = defineFunction({
  name: 'OR',
  syntax: 'OR(condition, …)',
  help: m.formula_or_help,
  examples: { 'OR(1 > 2, true)': true, 'OR(null, 0)': false },
  args: [],
  rest: ['condition'],
  min: 1,
  returns: 'boolean',
  evaluate: (args) => args.some((arg) => arg === true),
  compile: (args, build) => build.words.or(args.map(({ sql }) => sql)),
})

/** Whether an odd number of the conditions holds. */
export const xor = defineFunction({
  name: 'XOR',
  syntax: 'XOR(condition, …)',
  help: m.formula_xor_help,
  examples: { 'XOR(true, false)': true, 'XOR(true, true)': false },
  args: [],
  rest: ['truth'],
  min: 1,
  unavailable: NO_REGEX,
  returns: 'boolean',
  evaluate: (args) => args.filter((arg) => arg === true).length % 2 === 1,
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    const sum = args
      .map((arg) => words.truthNumber(arg.sql))
      .reduce((left, right) => words.arithmetic('+', left, right))
    const half = words.divide(sum, constant(2))
    return build.bind(half, 'number', (value) => words.compare('!=', value, words.floor(value)))
  },
})

/** The value that is true. */
export const trueFunction = defineFunction({
  name: 'TRUE',
  syntax: 'TRUE()',
  help: m.formula_true_help,
  examples: { 'TRUE()': true },
  args: [],
  returns: 'boolean',
  evaluate: () => true,
  compile: (_args, build) => build.words.truth(true),
})

/** The value that is false. */
export const falseFunction = defineFunction({
  name: 'FALSE',
  syntax: 'FALSE()',
  help: m.formula_false_help,
  examples: { 'FALSE()': false },
  args: [],
  returns: 'boolean',
  evaluate: () => false,
  compile: (_args, build) => build.words.truth(false),
})

/** No value. */
export const blank = defineFunction({
  name: 'BLANK',
  syntax: 'BLANK()',
  help: m.formula_blank_help,
  examples: { 'BLANK()': null, 'IF("" = BLANK(), "empty", "filled")': 'empty' },
  args: [],
  returns: 'null',
  evaluate: () => null,
  compile: (_args, build) => build.words.nothing('null'),
})

/** True for null and the empty text. */
const isEmpty = (value: Datum | undefined): boolean => (value ?? '') === ''

/** `isEmpty` as SQL. */
const compileEmpty = <S>({ sql, type }: Value<S>, { words }: Build<S>): S =>
  type === 'text'
    ? words.compareText('=', words.coalesce(sql, words.text('')), words.text(''))
    : words.isNull(sql)

/** Whether a value is empty. */
export const isBlank = defineFunction({
  name: 'ISBLANK',
  syntax: 'ISBLANK(value)',
  help: m.formula_isblank_help,
  examples: { 'ISBLANK("")': true, 'ISBLANK(0)': false, 'ISBLANK(BLANK())': true },
  args: ['any'],
  returns: 'boolean',
  evaluate: ([value]) => isEmpty(value),
  compile: (args, build) => compileEmpty(argument(args, 0, build, 'null'), build),
})

/** Whether there is a value. */
export const isNotBlank = defineFunction({
  name: 'ISNOTBLANK',
  syntax: 'ISNOTBLANK(value)',
  help: m.formula_isnotblank_help,
  examples: { 'ISNOTBLANK("a")': true, 'ISNOTBLANK("")': false },
  args: ['any'],
  returns: 'boolean',
  evaluate: ([value]) => !isEmpty(value),
  compile: (args, build) => build.words.not(compileEmpty(argument(args, 0, build, 'null'), build)),
})

const readInstant = (stored: string | null | undefined): number | null =>
  stored === null || stored === undefined ? null : fromStored(stored)

/** When the record was created. */
export const createdTime = defineFunction({
  name: 'CREATED_TIME',
  syntax: 'CREATED_TIME()',
  help: m.formula_created_time_help,
  examples: { 'CREATED_TIME() > "2020-01-01"': true },
  args: [],
  returns: 'datetime',
  evaluate: (_args, { createdTime }) => readInstant(createdTime),
  compile: (_args, build) => build.createdTime,
})

/** When the record was last changed. */
export const lastModifiedTime = defineFunction({
  name: 'LAST_MODIFIED_TIME',
  syntax: 'LAST_MODIFIED_TIME()',
  help: m.formula_last_modified_time_help,
  examples: { 'IS_AFTER(CREATED_TIME(), LAST_MODIFIED_TIME())': false },
  args: [],
  returns: 'datetime',
  evaluate: (_args, { modifiedTime }) => readInstant(modifiedTime),
  compile: (_args, build) => build.modifiedTime,
})

/** A value that is an error. */
export const errorFunction = defineFunction({
  name: 'ERROR',
  syntax: 'ERROR()',
  help: m.formula_error_help,
  examples: { 'ISERROR(ERROR())': true, 'IFERROR(IF(1 > 2, 1, ERROR()), "wrong")': 'wrong' },
  args: [],
  failure: 'always',
  returns: 'null',
  evaluate: () => null,
  compile: (_args, build) => build.words.nothing('null'),
})

/** Whether a value could not be computed. */
export const isError = defineFunction({
  name: 'ISERROR',
  syntax: 'ISERROR(value)',
  help: m.formula_iserror_help,
  examples: { 'ISERROR(1 / 0)': true, 'ISERROR(VALUE("12 kg"))': true, 'ISERROR(BLANK())': false },
  args: ['any'],
  failure: 'never',
  watchesErrors: true,
  returns: 'boolean',
  evaluate: ([hasFailed = null]) => hasFailed,
  compile: (args, build) => argument(args, 0, build, 'boolean').sql,
})

/** The value, or the second one where it could not be computed. */
export const ifError = defineFunction({
  name: 'IFERROR',
  syntax: 'IFERROR(value, otherwise)',
  help: m.formula_iferror_help,
  examples: { 'IFERROR(6 / 2, 0)': 3, 'IFERROR(1 / 0, 0)': 0, 'IFERROR(SQRT(-1), "none")': 'none' },
  args: ['result', 'result'],
  // Checked arguments: the condition, the value, the other one.
  failure: ([hasFailed, , otherwise], tools) =>
    hasFailed && otherwise
      ? tools.anyOf([tools.call('AND', [hasFailed, tools.failureOf(otherwise)])])
      : tools.otherwise,
  watchesErrors: true,
  returns: (types) => types[1] ?? 'null',
  evaluate: ([hasFailed, value = null, otherwise = null]) => (hasFailed === true ? otherwise : value),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const value = argument(args, 1, build, 'null')
    return build.words.choose(
      [[argument(args, 0, build, 'boolean').sql, argument(args, 2, build, value.type).sql]],
      value.sql,
    )
  },
})

/** The id of the record, as text. */
export const recordId = defineFunction({
  name: 'RECORD_ID',
  syntax: 'RECORD_ID()',
  help: m.formula_record_id_help,
  examples: { 'LEN(RECORD_ID()) > 0': true },
  args: [],
  returns: 'text',
  evaluate: (_args, { recordId }) => (recordId === null ? null : String(recordId)),
  compile: (_args, build) => build.recordId,
})
