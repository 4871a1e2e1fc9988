import type { CellValue } from '../../src/core/fields/field-type.ts'
import { join, pointParts, readPoint } from '../../src/core/fields/geo-data.ts'
import type { LngLat } from './mercator.ts'

/** Parses a stored location; null if it is empty or invalid. */
export function placeIn(value: CellValue): LngLat | null {
  const point = typeof value === 'string' ? readPoint(value) : null
  if (point === null) return null
  const { lat, long } = pointParts(point)
  return { lat: Number(lat), lng: Number(long) }
}

/** The stored form of a location. Six decimals are a tenth of a metre. */
export function valueAt({ lat, lng }: LngLat): string {
  const short = (degrees: number, most: number) =>
    String(Number(Math.max(-most, Math.min(most, degrees)).toFixed(6)))
  const value = join(short(lat, 90), short(lng, 180))
  if (value === null) throw new Error(`${lat}, ${lng} is no place on the globe`)
  return value
}
