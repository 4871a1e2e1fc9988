import { describe, expect, test } from 'bun:test'
import { clusterPoints } from '../../web/map/clusters.ts'
import { labelsThatFit } from '../../web/map/label-places.ts'
import { boundsOf, fromWorld, toWorld, worldSize } from '../../web/map/mercator.ts'
import { placeIn, valueAt } from '../../web/map/place-value.ts'
import { countryName, unwrapRing } from '../../web/map/world.ts'

const WORLD = { west: 0, north: 0, east: 1, south: 1 }
const pin = (key: string, lat: number, lng: number) => ({ key, ...toWorld({ lat, lng }) })

describe('the projection', () => {
  test('goes there and back, and keeps the poles on the map', () => {
    for (const at of [
      { lat: 0, lng: 0 },
      { lat: 48.8584, lng: 2.2945 },
      { lat: -33.87, lng: 151.2 },
    ]) {
      const back = fromWorld(toWorld(at))
      expect(back.lat).toBeCloseTo(at.lat, 9)
      expect(back.lng).toBeCloseTo(at.lng, 9)
    }
    expect(toWorld({ lat: 90, lng: 0 }).y).toBeCloseTo(0, 5)
    expect(boundsOf([])).toBeNull()
    expect(
      boundsOf([
        { lat: 1, lng: 5 },
        { lat: -2, lng: 3 },
      ]),
    ).toEqual({ min: { lat: -2, lng: 3 }, max: { lat: 1, lng: 5 } })
  })
})

describe('clusterPoints', () => {
  const cities = [pin('Paris', 48.86, 2.29), pin('Berlin', 52.52, 13.4), pin('Tokyo', 35.68, 139.69)]

  test('gathers what stands close together, and takes it apart as one looks closer', () => {
    const far = clusterPoints(cities, 0, WORLD)
    expect(far.map(({ points }) => points.length).sort()).toEqual([1, 2])
    const near = clusterPoints(cities, 6, WORLD)
    expect(near.map(({ key }) => key).sort()).toEqual(['pin Berlin', 'pin Paris', 'pin Tokyo'])
  })

  test('keeps every pin in exactly one place, and no two gatherings on top of each other', () => {
    const pins = Array.from({ length: 20_000 }, (_, at) =>
      pin(String(at), 60 * Math.sin(at * 12.9898), 170 * Math.sin(at * 78.233)),
    )
    for (const zoom of [0, 1.4, 3, 5]) {
      const clusters = clusterPoints(pins, zoom, WORLD)
      const keys = clusters.flatMap(({ points }) => points.map(({ key }) => key))
      expect(new Set(keys).size).toBe(pins.length)
      expect(keys.length).toBe(pins.length)
      expect(new Set(clusters.map(({ key }) => key)).size).toBe(clusters.length)
      for (const { x, y, points } of clusters) {
        const middle = points.reduce((sum, point) => sum + point.x, 0) / points.length
        expect(Math.abs(x - middle) * worldSize(zoom)).toBeLessThan(1)
        expect(y).toBeGreaterThan(0)
      }
    }
  })

  test('draws what is in sight alone, and the same while the map is moved a little', () => {
    const box = { west: 0.5, north: 0.2, east: 0.6, south: 0.4 }
    const seen = clusterPoints(cities, 6, box).map(({ key }) => key)
    expect(seen).not.toContain('pin Tokyo')
    const moved = clusterPoints(cities, 6.3, { ...box, east: 0.601 }).map(({ key }) => key)
    expect(moved).toEqual(seen)
  })
})

describe('the outlines', () => {
  test('go on past the date line instead of across the map, and close around the pole', () => {
    const across = unwrapRing([
      [170, 10],
      [-170, 10],
      [-170, 0],
      [170, 0],
      [170, 10],
    ])
    expect(across.map(([lng]) => lng)).toEqual([170, 190, 190, 170, 170])
    const pole = unwrapRing([
      [-170, -70],
      [-60, -70],
      [60, -70],
      [170, -70],
      [-170, -70],
    ])
    expect(pole.slice(-3)).toEqual([
      [190, -90],
      [-170, -90],
      [-170, -70],
    ])
  })

  test('name the countries in the language, where there is room', () => {
    expect(countryName('250', 'de', 'France')).toBe('Frankreich')
    expect(countryName('999', 'de', 'Somewhere')).toBe('Somewhere')
    const label = (name: string, x: number, width: number) => ({ name, x, y: 0.5, width })
    const labels = [label('Large', 0.5, 0.2), label('Beside', 0.501, 0.1), label('Tiny', 0.9, 0.001)]
    expect(labelsThatFit(labels, 512).map(({ name }) => name)).toEqual(['Large'])
    expect(labelsThatFit(labels, 512 * 2 ** 8).map(({ name }) => name)).toEqual(['Large', 'Beside', 'Tiny'])
  })
})

describe('a place', () => {
  test('is read from what a cell holds, and written with six digits', () => {
    expect(placeIn('48.8584;2.2945')).toEqual({ lat: 48.8584, lng: 2.2945 })
    for (const none of [null, '', '95;200', 'Paris', 7]) expect(placeIn(none)).toBeNull()
    expect(valueAt({ lat: 48.123456789, lng: -190 })).toBe('48.123457;-180')
  })
})
