import { z } from 'zod'
import { describeValue } from './describe-value.ts'
import { defineFieldType, readFail, readOk } from './field-type.ts'
import { parsePoint, readPoint } from './geo-text.ts'

/** A place on the globe: latitude and longitude in degrees. */
export const geoData = defineFieldType({
  name: 'GeoData',
  label: 'Geo data',
  group: 'text',
  help: 'A location as latitude and longitude',
  example: '48.8584;2.2945',
  storage: 'text',
  options: z.object({}),
  filters: 'text',
  summaries: 'count',
  isLocation: true,
  noDefault: true,
  read(input) {
    if (input === '') return readOk(null)
    const point = typeof input === 'string' ? readPoint(input) : null
    return point === null
      ? readFail(`Expected a location such as 48.8584;2.2945, got ${describeValue(input)}`)
      : readOk(point)
  },
  parse: parsePoint,
  format: (value) => (value === null ? '' : String(value)),
  databaseTypes: { sqlite3: 'text', pg: 'text' },
})
