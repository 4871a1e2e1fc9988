/**
 * The web's map projection: the world as a square from 0 to 1, west to east and north to south. MapLibre draws
 * it 512 pixels wide at zoom 0 and twice as wide with every step.
 */

/** A location in degrees, in GeoJSON order. */
export interface LngLat {
  lng: number
  lat: number
}

/** A point on the square. */
export interface WorldPoint {
  x: number
  y: number
}

/** Maximum latitude of the projection; points beyond it are drawn at the edge. */
export const MAX_LATITUDE = 85.051129

/** Width of the world in pixels at a zoom. */
export const worldSize = (zoom: number): number => 512 * 2 ** zoom

export function toWorld({ lng, lat }: LngLat): WorldPoint {
  const capped = Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, lat))
  const sine = Math.sin((capped * Math.PI) / 180)
  return { x: lng / 360 + 0.5, y: 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI) }
}

export function fromWorld({ x, y }: WorldPoint): LngLat {
  const lat = (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI
  return { lng: (x - 0.5) * 360, lat }
}

/** The smallest rectangle around points; null without points. */
export function boundsOf(points: Iterable<LngLat>): { min: LngLat; max: LngLat } | null {
  let bounds: { min: LngLat; max: LngLat } | null = null
  for (const { lng, lat } of points) {
    bounds ??= { min: { lng, lat }, max: { lng, lat } }
    bounds.min.lng = Math.min(bounds.min.lng, lng)
    bounds.min.lat = Math.min(bounds.min.lat, lat)
    bounds.max.lng = Math.max(bounds.max.lng, lng)
    bounds.max.lat = Math.max(bounds.max.lat, lat)
  }
  return bounds
}
