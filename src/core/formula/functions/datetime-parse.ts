import type { Build, Value } from '../build.ts'
import { dateFormatOf, parseDate } from '../date-format.ts'
import { compileDateOrNull, compileFromWall } from '../instants.ts'
import { dateOrNull } from '../semantics.ts'
import { fromWallMs } from '../zones.ts'
import { argument } from './common.ts'
import { type Datum, defineFunction } from './define.ts'

/** What is read where the formula names no format. */
const DEFAULT_FORMAT = 'YYYY-MM-DD'

const formatOf = (written: unknown) => dateFormatOf(typeof written === 'string' ? written : DEFAULT_FORMAT)

/** The day or the instant that a text shows in a format; empty where it does not fit. */
export const datetimeParse = defineFunction({
  name: 'DATETIME_PARSE',
  syntax: 'DATETIME_PARSE(text, ["format"])',
  help: 'Converts text to a date, by a format of YYYY, YY, MMM, MM, M, DD, D, HH, H, hh, h, mm, ss, SSS and A (default YYYY-MM-DD). Empty if the text does not fit.',
  examples: {
    'DATETIME_PARSE("31.12.2024", "DD.MM.YYYY")': '2024-12-31',
    'DATETIME_PARSE("2024-02-30")': null,
    'DATETIME_PARSE(" 3/5/24 1:05 PM ", "M/D/YY h:mm A")': '2024-03-05 13:05:00+00:00',
    'DATETIME_PARSE("05 mar 1969 | 23:59:58.250", "DD MMM YYYY | HH:mm:ss.SSS")':
      '1969-03-05 23:59:58.250+00:00',
    'DATETIME_PARSE("2024-03", "YYYY-MM")': '2024-03-01',
  },
  args: ['text', 'format'],
  min: 1,
  max: 2,
  returns: (_types, args) => {
    const format = args[1]?.kind === 'literal' ? args[1].value : undefined
    return formatOf(format)?.hasTime ? 'datetime' : 'date'
  },
  evaluate: ([text = null, written]: Datum[], { zone }) => {
    const format = formatOf(written)
    const wall = text === null || format === null ? null : parseDate(String(text), format)
    if (wall === null) return null
    return dateOrNull(format?.hasTime ? fromWallMs(wall, zone) : wall)
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words } = build
    const format = formatOf(args[1]?.constant)
    if (format === null) return words.nothing('date')
    const text = words.trim(argument(args, 0, build, 'text').sql)
    const wall = build.bind(text, 'text', (trimmed) => words.readDate(trimmed, format))
    return compileDateOrNull(format.hasTime ? compileFromWall(wall, build) : wall, build)
  },
})
