import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType, describeValue, formatPlain, readFail, readOk } from './field-type.ts'

/** A geographic point: latitude and longitude in degrees. */
export const geoData = defineFieldType({
  name: 'GeoData',
  label: m.field_type_geo_data,
  group: 'text',
  help: m.field_type_geo_data_help,
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
    return point === null ? readFail(m.value_error_location({ value: describeValue(input) })) : readOk(point)
  },
  parse: parsePoint,
  format: formatPlain,
  databaseTypes: { sqlite3: 'text', pg: 'text' },
})

// Points are stored as `lat;long` in decimal degrees, with the digits as entered.

const MAX_LENGTH = 100
const PAIR = /^\(?([-+−]?\d{1,3}(?:\.\d{1,20})?)°?(?:\s*[;,]\s*|\s+)([-+−]?\d{1,3}(?:\.\d{1,20})?)°?\)?$/
/** With decimal commas, only a semicolon can separate the two numbers. */
const COMMA_PAIR = /^([-+−]?\d{1,3}(?:,\d{1,20})?)\s*;\s*([-+−]?\d{1,3}(?:,\d{1,20})?)$/
/** Degrees, minutes and seconds with a hemisphere suffix: `48°51'30"N`, `2.35° E`. */
const ANGLE =
  /^(\d{1,3}(?:\.\d{1,12})?)\s*°\s*(?:(\d{1,2}(?:\.\d{1,12})?)\s*['′’]\s*)?(?:(\d{1,2}(?:\.\d{1,12})?)\s*(?:["″”]|'')\s*)?([NSEWO])$/i
/** Decimal degrees with a hemisphere suffix: `48.85 N`. */
const LETTERED = /^(\+?\d{1,3}(?:\.\d{1,20})?)\s*([NSEWO])$/i

/** Latitude and longitude as text, with all digits as entered. */
interface GeoPoint {
  lat: string
  long: string
}

/** Reads the stored format, `48.85;2.35`; null for anything else. */
export function readPoint(text: string): string | null {
  const match = /^\s*(-?\d{1,3}(?:\.\d{1,20})?)\s*;\s*(-?\d{1,3}(?:\.\d{1,20})?)\s*$/.exec(
    text.slice(0, MAX_LENGTH),
  )
  return match && text.length <= MAX_LENGTH ? join(match[1], match[2]) : null
}

/** Parses common notations: `48.85, 2.35`, `48°51'N 2°21'E`; null for anything else. */
export function parsePoint(text: string): string | null {
  if (text.length > MAX_LENGTH) return null
  const trimmed = text.trim()
  const pair = PAIR.exec(trimmed) ?? COMMA_PAIR.exec(trimmed)
  if (pair) return join(pair[1], pair[2])
  // Both parts end with a hemisphere letter, and latitude comes first.
  const north = trimmed.search(/[NS]/i) + 1
  if (north === 0 || !/[EWO]$/i.test(trimmed)) return null
  const [lat, long] = [trimmed.slice(0, north), trimmed.slice(north).replace(/^[\s,;]+/, '')]
  const [latAngle, longAngle] = [ANGLE.exec(lat), ANGLE.exec(long)]
  if (latAngle && longAngle) return join(degrees(latAngle.slice(1)), degrees(longAngle.slice(1)))
  const [latNumber, longNumber] = [LETTERED.exec(lat), LETTERED.exec(long)]
  const isParted = /^[\s,;]/.test(trimmed.slice(north))
  if (!latNumber || !longNumber || !isParted) return null
  return join(signed(latNumber[1], latNumber[2]), signed(longNumber[1], longNumber[2]))
}

/** Splits a stored point. */
export function pointParts(value: string): GeoPoint {
  const [lat = '', long = ''] = value.split(';')
  return { lat, long }
}

/** The stored form of a point; null if a coordinate is not a number or out of range. */
export function join(lat: string | null | undefined, long: string | null | undefined): string | null {
  const parts = [plain(lat), plain(long)]
  const [north, east] = parts.map((part) => (part === null ? Number.NaN : Number(part)))
  if (!(Math.abs(north ?? Number.NaN) <= 90 && Math.abs(east ?? Number.NaN) <= 180)) return null
  return parts.join(';')
}

function plain(text: string | null | undefined): string | null {
  const number = text?.trim().replace('−', '-').replace(/^\+/, '').replace(',', '.') ?? ''
  return /^-?\d{1,3}(?:\.\d{1,20})?$/.test(number) ? number.replace(/^(-?)0+(?=\d)/, '$1') : null
}

/** South and west are negative; `O` is west in French, Spanish and Italian. */
const isNegative = (side = ''): boolean => /[SWO]/i.test(side)

const signed = (number = '', side = ''): string => (isNegative(side) ? `-${number}` : number)

function degrees([whole = '0', minutes = '0', seconds = '0', side]: string[]): string | null {
  if (Number(minutes) >= 60 || Number(seconds) >= 60) return null
  const value = Number(whole) + Number(minutes) / 60 + Number(seconds) / 3600
  // Seven decimals resolve about a centimetre; an arc second is 30 metres.
  return signed(String(Number(value.toFixed(7))), side)
}
