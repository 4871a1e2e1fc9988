import { z } from 'zod'
import { describeValue } from './describe-value.ts'
import { defineFieldType, readFail, readOk } from './field-type.ts'
import { MAX_TEXT_LENGTH, parseText, readText } from './text-value.ts'
import { isWkt } from './wkt.ts'

/** A shape in well-known text (OGC 06-103r4): points, lines, areas. */
export const geometry = defineFieldType({
  name: 'Geometry',
  label: 'Geometry',
  group: 'text',
  help: 'Points, lines and polygons in WKT format',
  example: 'POINT (2.2945 48.8584)',
  storage: 'longText',
  options: z.object({}),
  filters: 'text',
  summaries: 'count',
  groupable: false,
  noDefault: true,
  read(input) {
    if (input === '') return readOk(null)
    if (typeof input === 'string' && input.length <= MAX_TEXT_LENGTH && isWkt(input))
      return readText(input, MAX_TEXT_LENGTH)
    return readFail(`Expected a geometry such as POINT (30 10), got ${describeValue(input)}`)
  },
  parse: (text) => (text.length <= MAX_TEXT_LENGTH && isWkt(text) ? parseText(text, MAX_TEXT_LENGTH) : null),
  format: (value) => (value === null ? '' : String(value)),
  databaseTypes: { sqlite3: 'varchar', pg: 'character varying' },
})
