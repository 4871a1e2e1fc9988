import { matchesEmpty, readPattern } from '../../src/core/formula/pattern.ts'
import { pick, textOf } from '../core/random.ts'

type Random = () => number
type Kind = 'number' | 'text' | 'boolean' | 'date' | 'list'

const LEAVES: Record<Kind, readonly string[]> = {
  number: [
    '{Num}',
    '{Num}',
    '{Int}',
    '{Int}',
    '{Links}',
    '{Sum}',
    '0',
    '1',
    '2',
    '-1',
    '3',
    '0.5',
    '10',
    '1e3',
    '-7',
    '0.1',
    '100',
    '1e20',
    '1e-9',
    '123456.789',
    'null',
    'true',
    '.25',
    '1000000007',
  ],
  text: [
    '{Text}',
    '{Text}',
    '{Other \\{text\\}}',
    '{List}',
    '{Linked}',
    '""',
    '"a"',
    "'b\\'c'",
    '"Ä é ß"',
    '"-"',
    '"😀"',
    '"12.5"',
    '"2024-01-31"',
    '" x "',
    'null',
    '"line\\nbreak"',
    '"%"',
    '"\\\\"',
  ],
  boolean: ['{Flag}', '{Flag}', 'true', 'false', 'TRUE()', 'FALSE()', 'null', 'BLANK()'],
  date: [
    '{Day}',
    '{Day}',
    '{At}',
    '{At}',
    '{Departure}',
    '"2024-02-29"',
    '"31/01/2024"',
    '"2024-03-31 02:30"',
    'NOW()',
    'TODAY()',
    'null',
    '"2024/10/27 02:30:00.250"',
    '"12 31 1999"',
  ],
  list: [
    '{List}',
    '{Linked}',
    '{Amounts}',
    '{Amounts}',
    '{Tags}',
    '{Tag lists}',
    '{Departures}',
    '{Text}',
    '{Num}',
    '{At}',
    'null',
    '""',
    'SPLIT("b,a,,c,a", ",")',
    'SPLIT("10 9 8.5", " ")',
    'SPLIT({Text}, "a")',
    '"it\'s \\"q\\" \\\\n"',
  ],
}

const PATTERNS = [
  '[0-9]+',
  '^a',
  'c$',
  'a.c',
  '\\\\d{2,3}',
  '[^a-z]+',
  '(a|b)c',
  '\\\\w+',
  '\\\\s',
  '-',
  'é',
  '\\\\.',
  '[A-C]',
]
const PIECES = [
  'a',
  'b',
  'c',
  '-',
  ' ',
  'é',
  '😀',
  '.',
  '\\d',
  '\\w',
  '\\s',
  '\\S',
  '[a-c]',
  '[^a\\d]',
  '[😀é-]',
  '^',
  '$',
  '\\.',
  '(',
  '(?:',
  ')',
  '|',
  '*',
  '+',
  '?',
  '{2}',
  '{1,}',
  '{0,3}',
  '\\\\',
  '\\{',
  '"',
  "'",
]

/** A pattern put together by chance, as a literal. */
function anyPattern(random: Random, isReplaced = false): string {
  for (;;) {
    const pattern = textOf(random, PIECES, 8)
    if (readPattern(pattern).ok && !(isReplaced && matchesEmpty(pattern)))
      return `"${pattern.replace(/["\\]/g, '\\$&')}"`
  }
}

const FORMATS = [
  'YYYY-MM-DD',
  'DD.MM.YYYY',
  'D.M.YYYY',
  'DD.MM.YYYY HH:mm',
  'M/D/YY h:mm A',
  'DD MMM YYYY',
  'YYYY',
  'YYYY-MM',
  'YYYYMMDDHHmmss',
  'YYYY-MM-DDTHH:mm:ss.SSS[Z]',
  'YYYY-MM-DD HH:mm:ss.SSS',
  'D.M.YYYY h:m:s a',
  'H:mm, YY/MM/DD',
  '[50%] MMM YY',
  'MMMM D, YYYY',
]
const DATE_TEXTS = [
  '2024-02-29',
  '2023-02-29',
  '31.12.2024',
  '1.1.2024',
  '01.1.2024',
  '31.04.2024',
  '1.1.2024 ',
  '01.01.0001',
  '31.12.9999 23:59',
  '01.01.2024 24:00',
  '3/5/24 1:05 PM',
  '12/31/68 12:00 am',
  '12/31/69 12:00 pm',
  '1/1/70 13:00 PM',
  '05 mar 2024',
  '05 Mär 2024',
  '31 JUN 2024',
  'February 29, 2024',
  'september 31, 2024',
  'MAY 5, 1999',
  'Feb 1, 2024',
  '2024',
  '0000',
  '2024-13',
  '2024-12',
  '20240331023000',
  '20240332023000',
  '2024-03-31T02:30:15.250Z',
  '2024-10-27 02:30:00.001',
  '7:05, 99/12/31',
  '50% feb 24',
  '2024-02-29\\n',
  '٢٠٢٤-01-01',
]

const STEPS = [
  'day',
  'week',
  'month',
  'year',
  'hour',
  'minute',
  'second',
  'days',
  'M',
  'm',
  'quarters',
  'ms',
  'Hours',
]
const UNITS = ['ms', 'seconds', 'm', 'hours', 'd', 'weeks', 'M', 'quarters', 'years', 'days', 'months']
const SHOWN_FORMATS = [
  'YYYY-MM-DD',
  'D.M.YY H:m:s',
  'dddd, DD MMMM YYYY [at] hh:mm:ss.SSS A',
  'Do MMMM, dd d E [day] DDD (DDDD), [KW] WW (W), ww w',
  'k:mm:ss.SS S ZZ X x',
  'L LT, LL LTS, LLL, LLLL',
  'ddd MMM D h a Z',
  '[Q]Q Z',
  '',
]
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata']
const HOLIDAYS = [
  '',
  '',
  ', "2024-02-29, 2024-03-01, 2024-03-04"',
  ', "2024-01-31,1970-01-01, 2024-03-02"',
  ', {Free days}',
  ', {Free days}',
  ', {Days}',
  ', {Departures}',
  ', {At}',
  ', {Day}',
  ', {Text} & ",2024-03-01,2024-02-29"',
  ', SPLIT("2024-03-04;2024-03-01;2024-02-29 12:00;2024-02-30", ";")',
  ', null',
]
const JSON_PATHS = [
  '.a',
  '.a.b',
  '.a[0]',
  '.a[0].b',
  '[0]',
  '[1]',
  '[1][1].a',
  '.',
  '$',
  '.n',
  '."a b"',
  '.0',
  '["q\\\\""]',
  '.a[1]',
  '.a.b[0]',
  '.a.b[1]',
  '.missing',
  '[7]',
  'a',
]
const SEPARATORS = ['","', '"a"', '" "', '"-"', '"aa"', '"\\\\"', '""', '"é"', '{Tags}']
const WEEKDAYS = ['sunday', 'Monday', 'wednesday', 'saturday']

const many = (random: Random, depth: number, kind: Kind) =>
  Array.from({ length: 1 + Math.floor(random() * 3) }, () => generate(random, depth, kind)).join(', ')

const small = (random: Random, depth: number) =>
  random() < 0.7
    ? pick(random, ['0', '1', '2', '3', '5', '-1', '40', '{Int}'])
    : generate(random, depth, 'number')

type Make = (random: Random, depth: number) => string
const f =
  (name: string, ...kinds: Kind[]): Make =>
  (random, depth) =>
    `${name}(${kinds.map((kind) => generate(random, depth, kind)).join(', ')})`

const any = (random: Random, depth: number) =>
  generate(random, depth, pick(random, ['number', 'text', 'boolean', 'date', 'list'] as const))

const branch =
  (kind: Kind): Make =>
  (random, depth) => {
    if (random() < 0.6) {
      const otherwise = random() < 0.8 ? `, ${generate(random, depth, kind)}` : ''
      return `IF(${any(random, depth)}, ${generate(random, depth, kind)}${otherwise})`
    }
    const over = pick(random, ['number', 'text', 'date'] as const)
    const one = () => generate(random, depth, over)
    const result = () => generate(random, depth, kind)
    return `SWITCH(${one()}, ${one()}, ${result()}, ${one()}, ${result()}${random() < 0.5 ? `, ${result()}` : ''})`
  }

const infix =
  (signs: readonly string[], kind: Kind): Make =>
  (random, depth) =>
    `(${generate(random, depth, kind)} ${pick(random, signs)} ${generate(random, depth, kind)})`

const MAKERS: Record<Kind, readonly Make[]> = {
  number: [
    (random, depth) => `-${generate(random, depth, 'number')}`,
    infix(['+', '-', '*', '/', '%'], 'number'),
    infix(['+', '-', '*', '/'], 'number'),
    ...['ABS', 'CEILING', 'FLOOR', 'INT', 'ROUND', 'EVEN', 'ODD', 'SQRT'].map((name) => f(name, 'number')),
    ...['ROUND', 'ROUNDUP', 'ROUNDDOWN'].map(
      (name): Make =>
        (random, depth) =>
          `${name}(${generate(random, depth, 'number')}, ${small(random, depth)})`,
    ),
    f('MOD', 'number', 'number'),
    ...['ADD', 'AVG', 'MIN', 'MAX'].map(
      (name): Make =>
        (random, depth) =>
          `${name}(${many(random, depth, 'number')})`,
    ),
    (random, depth) =>
      `${pick(random, ['COUNT', 'COUNTA', 'COUNTALL'])}(${any(random, depth)}, ${any(random, depth)})`,
    f('LEN', 'text'),
    f('SEARCH', 'text', 'text'),
    f('VALUE', 'text'),
    ...['YEAR', 'MONTH', 'DAY', 'HOUR', 'MINUTE', 'SECOND'].map((name) => f(name, 'date')),
    ...['MEDIAN', 'VAR', 'STDEV'].map(
      (name): Make =>
        (random, depth) =>
          `${name}(${many(random, depth, 'number')}, ${generate(random, depth, 'number')})`,
    ),
    (random, depth) =>
      `FIND(${generate(random, depth, 'text')}, ${generate(random, depth, 'text')}${random() < 0.6 ? `, ${small(random, depth)}` : ''})`,
    (random, depth) => {
      const first = random() < 0.5 ? `, "${pick(random, WEEKDAYS)}"` : ''
      return `WEEKNUM(${generate(random, depth, 'date')}${first})`
    },
    (random, depth) =>
      `WORKDAY_DIFF(${generate(random, depth, 'date')}, ${generate(random, depth, 'date')}${pick(random, HOLIDAYS)})`,
    (random, depth) => {
      const first = random() < 0.5 ? `, "${pick(random, WEEKDAYS)}"` : ''
      return `WEEKDAY(${generate(random, depth, 'date')}${first})`
    },
    (random, depth) => {
      const unit = random() < 0.9 ? `, "${pick(random, UNITS)}"` : ''
      return `DATETIME_DIFF(${generate(random, depth, 'date')}, ${generate(random, depth, 'date')}${unit})`
    },
    (random, depth) => `IFERROR(${generate(random, depth, 'number')}, ${generate(random, depth, 'number')})`,
    branch('number'),
  ],
  list: [
    (random, depth) =>
      `SPLIT(${generate(random, depth, 'text')}, ${random() < 0.7 ? pick(random, SEPARATORS) : generate(random, depth, 'text')})`,
    ...['ARRAYUNIQUE', 'ARRAYCOMPACT', 'ARRAYSORT'].map((name) => f(name, 'list')),
    (random, depth) => `ARRAYSORT(${generate(random, depth, 'list')}, "${pick(random, ['asc', 'desc'])}")`,
    (random, depth) => `ARRAYFLATTEN(${many(random, depth, 'list')}, ${any(random, depth)})`,
    (random, depth) => {
      const to = random() < 0.6 ? `, ${small(random, depth)}` : ''
      return `ARRAYSLICE(${generate(random, depth, 'list')}, ${small(random, depth)}${to})`
    },
  ],
  text: [
    (random, depth) => {
      const separator = random() < 0.7 ? `, ${pick(random, SEPARATORS)}` : ''
      return `ARRAYJOIN(${generate(random, depth, 'list')}${separator})`
    },
    (random, depth) => generate(random, depth, 'list'),
    (random) => `JSON_EXTRACT({Doc}, '${pick(random, JSON_PATHS)}')`,
    (random, depth) => `CONCAT(${any(random, depth)}, ${any(random, depth)})`,
    (random, depth) => `(${any(random, depth)} & ${any(random, depth)})`,
    f('CONCAT', 'number'),
    f('CONCAT', 'date'),
    ...['UPPER', 'LOWER', 'TRIM', 'URL', 'ENCODE_URL_COMPONENT'].map((name) => f(name, 'text')),
    // MariaDB gives null where a regular expression meets more than 20,000 characters.
    (random, depth) =>
      `REPEAT(${any(random, depth)}, ${random() < 0.7 ? pick(random, ['0', '1', '2', '-1', '{Int} % 40', '1e6']) : `MOD(${generate(random, depth, 'number')}, 40)`})`,
    ...['LEFT', 'RIGHT', 'SUBSTR'].map(
      (name): Make =>
        (random, depth) =>
          `${name}(${any(random, depth)}, ${small(random, depth)})`,
    ),
    (random, depth) =>
      `MID(${generate(random, depth, 'text')}, ${small(random, depth)}, ${small(random, depth)})`,
    f('REPLACE', 'text', 'text', 'text'),
    f('DATESTR', 'date'),
    f('FROMNOW', 'date'),
    (random, depth) => {
      const format = random() < 0.9 ? `, "${pick(random, SHOWN_FORMATS)}"` : ''
      return `DATETIME_FORMAT(${generate(random, depth, 'date')}${format})`
    },
    (random, depth) => `REGEX_EXTRACT(${generate(random, depth, 'text')}, "${pick(random, PATTERNS)}")`,
    (random, depth) =>
      `REGEX_REPLACE(${generate(random, depth, 'text')}, "${pick(random, PATTERNS)}", ${generate(random, depth, 'text')})`,
    (random, depth) => `REGEX_EXTRACT(${generate(random, depth, 'text')}, ${anyPattern(random)})`,
    (random, depth) => `REGEX_REPLACE(${generate(random, depth, 'text')}, ${anyPattern(random, true)}, "<>")`,
    () => 'RECORD_ID()',
    (random, depth) => `IFERROR(${generate(random, depth, 'text')}, ${any(random, depth)})`,
    branch('text'),
  ],
  boolean: [
    infix(['=', '==', '!=', '<>', '<', '<=', '>', '>='], 'number'),
    infix(['=', '!=', '<', '<=', '>', '>='], 'text'),
    infix(['=', '!=', '<', '<=', '>', '>='], 'date'),
    infix(['=', '!=', '<'], 'boolean'),
    (random, depth) =>
      `(${generate(random, depth, 'text')} ${pick(random, ['=', '!=', '<', '<=', '>', '>='])} ${generate(random, depth, 'number')})`,
    (random, depth) =>
      `(${generate(random, depth, 'number')} ${pick(random, ['=', '!=', '<', '<=', '>', '>='])} ${generate(random, depth, 'text')})`,
    (random, depth) =>
      `(${any(random, depth)} ${pick(random, ['=', '!=', '<', '>='])} ${any(random, depth)})`,
    (random, depth) => `${pick(random, ['AND', 'OR'])}(${any(random, depth)}, ${any(random, depth)})`,
    (random, depth) => `${pick(random, ['ISBLANK', 'ISNOTBLANK'])}(${any(random, depth)})`,
    ...['IS_BEFORE', 'IS_AFTER'].map((name) => f(name, 'date', 'date')),
    (random, depth) => {
      const unit = random() < 0.9 ? `, "${pick(random, UNITS)}"` : ''
      return `IS_SAME(${generate(random, depth, 'date')}, ${generate(random, depth, 'date')}${unit})`
    },
    (random, depth) => `XOR(${many(random, depth, 'boolean')})`,
    (random, depth) => `REGEX_MATCH(${generate(random, depth, 'text')}, ${anyPattern(random)})`,
    (random, depth) => `ISERROR(${any(random, depth)})`,
    (random, depth) => `ISERROR(${generate(random, depth, 'number')})`,
    (random, depth) => `ISERROR(IFERROR(${any(random, depth)}, IF(${any(random, depth)}, ERROR(), 1)))`,
    branch('boolean'),
  ],
  date: [
    (random, depth) => {
      const format = pick(random, FORMATS)
      const text = random() < 0.5 ? generate(random, depth, 'text') : `"${pick(random, DATE_TEXTS)}"`
      return `DATETIME_PARSE(${text}, "${format}")`
    },
    (random, depth) => `DATETIME_PARSE(${generate(random, depth, 'text')})`,
    (random, depth) =>
      `WORKDAY(${generate(random, depth, 'date')}, ${small(random, depth)}${pick(random, HOLIDAYS)})`,
    (random, depth) =>
      `DATEADD(${generate(random, depth, 'date')}, ${small(random, depth)}, "${pick(random, STEPS)}")`,
    (random, depth) => `SET_TIMEZONE(${generate(random, depth, 'date')}, "${pick(random, ZONES)}")`,
    () => 'CREATED_TIME()',
    () => 'LAST_MODIFIED_TIME()',
    branch('date'),
  ],
}

/** Functions whose last digit is the engine's own: only at the top, where nothing else is made of the number. */
const INEXACT: readonly Make[] = [
  (random, depth) => `LOG(${generate(random, depth, 'number')})`,
  (random, depth) => `LOG(${generate(random, depth, 'number')}, ${generate(random, depth, 'number')})`,
  f('EXP', 'number'),
  (random, depth) => `POWER(${generate(random, depth, 'number')}, ${small(random, depth)})`,
]

/** A formula of that kind, so many calls deep at most. */
export function generate(random: Random, depth: number, kind: Kind): string {
  if (depth <= 0 || random() < 0.15) return pick(random, LEAVES[kind])
  return pick(random, MAKERS[kind])(random, depth - 1)
}

/** Calls within calls; `FORMULA_DEPTH` for more. */
const MAX_DEPTH = Number(process.env.FORMULA_DEPTH ?? 4)

/** Any formula. */
export function generateFormula(random: Random): string {
  const depth = 1 + Math.floor(random() * MAX_DEPTH)
  if (random() < 0.05) return pick(random, INEXACT)(random, depth - 1)
  return generate(
    random,
    depth,
    pick(random, ['number', 'number', 'text', 'text', 'boolean', 'date'] as const),
  )
}

/** True for a formula whose last digit is the engine's own. */
export const isInexact = (formula: string): boolean => /^(LOG|EXP|POWER)\(/.test(formula)
