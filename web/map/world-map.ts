// MapLibre's worker, served by this server.

import type { GeoJSON } from 'geojson'
import type { GeoJSONSource, Map as GlMap, Marker, StyleSpecification } from 'maplibre-gl'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url'
import { localeTag } from '../i18n.ts'
import { loadPart } from '../navigation/lazy-screen.ts'
import type { WorldBox } from './clusters.ts'
import { labelsThatFit, type MapLabel } from './label-places.ts'
import type { MapTiles } from './map-tiles.ts'
import styles from './map-view.module.css'
import { fromWorld, type LngLat, MAX_LATITUDE, toWorld, worldSize } from './mercator.ts'
import './maplibre.css'

/** Zoom from which the coarse outlines are too imprecise. */
const FINE_ZOOM = 2.6
/** Zoom from which country labels are hidden. */
const LAST_LABEL_ZOOM = 7
const MAX_ZOOM = 18
/** Zoom for a single location: a town with tiles, a country with outlines. */
const CLOSE_UP = { tiles: 13, outlines: 5 }
/** Padding for pins, which are above their location, and for the controls. */
const FIT_PADDING = { top: 60, bottom: 30, left: 68, right: 68 }

/** Labels closer to the edge of the map than this are fading out. */
const EDGE_PX = 24

const within = (degrees: number, most: number): number => Math.max(-most, Math.min(most, degrees))

/** A mounted world map. */
export interface WorldMap {
  gl: GlMap
  /** Pins an element to a location. */
  pin(
    element: HTMLElement,
    at: LngLat,
    options?: { draggable?: boolean; anchor?: 'center' | 'bottom' },
  ): Marker
  /** The visible part of the world and the zoom. */
  view(): { zoom: number; box: WorldBox }
  /** Zooms to a rectangle. */
  fit(bounds: { min: LngLat; max: LngLat }, options?: { isInstant?: boolean }): void
  /** Zooms to a location with its surroundings. */
  goTo(at: LngLat, options?: { isInstant?: boolean }): void
  /** The location at a pixel offset from another, or from the centre of the map for null. */
  movedBy(at: LngLat | null, by: { x: number; y: number }): LngLat
  /** Zooms by steps, keeping `around` in place. */
  zoomBy(steps: number, around: LngLat | null): void
  /** Pans the map if a location is too close to its edge or outside. */
  keepInSight(at: LngLat): void
  /** Calls the listener after the map was moved or resized. */
  onView(listener: () => void): () => void
  remove(): void
}

/** True if the browser supports the map, which requires WebGL. */
export function canDrawMaps(): boolean {
  canDraw ??= document.createElement('canvas').getContext('webgl2') !== null
  return canDraw
}

/** Cached: each check creates a WebGL context, of which browsers allow only a few. */
let canDraw: boolean | undefined

/** Opens a map in an element. Loads the library and the outlines from this server. */
export async function openWorldMap(
  container: HTMLElement,
  { tiles, label }: { tiles: MapTiles | null; label: string },
): Promise<WorldMap> {
  const library = await loadPart(() => import('maplibre-gl'))
  library.setWorkerUrl(workerUrl)
  const gl = new library.Map({
    container,
    style: mapStyle(tiles, container),
    center: [10, 25],
    zoom: 1,
    maxZoom: MAX_ZOOM,
    attributionControl: false,
    renderWorldCopies: false,
    dragRotate: false,
    pitchWithRotate: false,
    touchPitch: false,
    fadeDuration: 0,
    locale: { 'Map.Title': label },
    // Tile servers require a referrer; sends only the origin.
    transformRequest: (url) => ({ url, referrerPolicy: 'origin' }),
  })
  gl.touchZoomRotate.disableRotation()
  gl.keyboard.disableRotation()
  const closeUp = tiles ? CLOSE_UP.tiles : CLOSE_UP.outlines
  const stopOutlines = tiles ? () => {} : drawOutlines(gl)

  return {
    gl,
    pin: (element, at, { draggable = false, anchor = 'center' } = {}) =>
      new library.Marker({ element, draggable, anchor }).setLngLat(at).addTo(gl),
    view() {
      const bounds = gl.getBounds()
      const northWest = toWorld(bounds.getNorthWest())
      const southEast = toWorld(bounds.getSouthEast())
      const box = { west: northWest.x, north: northWest.y, east: southEast.x, south: southEast.y }
      return { zoom: gl.getZoom(), box }
    },
    fit({ min, max }, { isInstant = false } = {}) {
      const animate = { padding: FIT_PADDING, maxZoom: closeUp, duration: isInstant ? 0 : 400 }
      gl.fitBounds([min.lng, min.lat, max.lng, max.lat], animate)
    },
    goTo(at, { isInstant = false } = {}) {
      const zoom = Math.max(closeUp, gl.getZoom())
      gl.easeTo({ center: at, zoom, duration: isInstant ? 0 : 400 })
    },
    movedBy(at, by) {
      const { x, y } = gl.project(at ?? gl.getCenter())
      const { lng, lat } = gl.unproject([x + by.x, y + by.y])
      return { lng: within(lng, 180), lat: within(lat, MAX_LATITUDE) }
    },
    zoomBy: (steps, around) =>
      gl.easeTo({ zoom: Math.round(gl.getZoom()) + steps, around: around ?? gl.getCenter(), duration: 150 }),
    keepInSight(at) {
      const { x, y } = gl.project(at)
      const { clientWidth, clientHeight } = gl.getContainer()
      const isInside = x > EDGE_PX && x < clientWidth - EDGE_PX && y > EDGE_PX && y < clientHeight - EDGE_PX
      if (!isInside) gl.easeTo({ center: at, duration: 150 })
    },
    onView(listener) {
      gl.on('moveend', listener)
      gl.on('resize', listener)
      return () => {
        gl.off('moveend', listener)
        gl.off('resize', listener)
      }
    },
    remove() {
      stopOutlines()
      gl.remove()
    },
  }
}

/** Draws the countries, in more detail when zoomed in, with labels where they fit. */
function drawOutlines(gl: GlMap): () => void {
  const names = document.createElement('div')
  names.className = styles.names ?? ''
  names.ariaHidden = 'true'
  // Above the drawn layers and below the pins, which are added after it.
  gl.getCanvasContainer().append(names)
  let detail: 'coarse' | 'fine' | null = null
  let labels: MapLabel[] = []
  let shown: { element: HTMLElement; label: MapLabel }[] = []
  let isGone = false

  async function draw(next: 'coarse' | 'fine') {
    if (detail === 'fine' || detail === next) return
    detail = next
    const { loadWorld } = await loadPart(() => import('./world.ts'))
    const world = await loadWorld(next, localeTag())
    if (isGone || detail !== next) return
    if (!gl.isStyleLoaded()) await new Promise((resolve) => gl.once('idle', resolve))
    if (isGone) return
    await setData('land', world.land)
    await setData('borders', world.borders)
    labels = world.labels
    choose()
  }

  async function setData(source: string, data: GeoJSON) {
    await gl.getSource<GeoJSONSource>(source)?.setData(data)
  }

  // Always draws the coarse outlines first, because they load quickly.
  const drawAsNeeded = async () => {
    await draw('coarse')
    if (gl.getZoom() > FINE_ZOOM) await draw('fine')
  }
  const follow = () =>
    drawAsNeeded().catch((error) => {
      // Pins and list work without outlines; the next movement retries.
      detail = null
      console.warn('the outlines of the countries could not be read', error)
    })

  function choose() {
    const zoom = gl.getZoom()
    const fitting = zoom > LAST_LABEL_ZOOM ? [] : labelsThatFit(labels, worldSize(zoom))
    names.replaceChildren()
    shown = fitting.map((label) => {
      const element = document.createElement('span')
      element.textContent = label.name
      element.dir = 'auto'
      names.append(element)
      return { element, label }
    })
    move()
  }

  function move() {
    for (const { element, label } of shown) {
      const { x, y } = gl.project(fromWorld(label))
      element.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px) translate(-50%, -50%)`
    }
  }

  const onRest = () => {
    choose()
    void follow()
  }
  gl.on('move', move)
  gl.on('moveend', onRest)
  void follow()
  return () => {
    isGone = true
    gl.off('move', move)
    gl.off('moveend', onRest)
    names.remove()
  }
}

const NOTHING = { type: 'FeatureCollection' as const, features: [] }

/** Style of a map: raster tiles, or country outlines in the app's colours. */
function mapStyle(tiles: MapTiles | null, element: Element): StyleSpecification {
  const tokens = getComputedStyle(element)
  const color = (token: string) => tokens.getPropertyValue(token).trim()
  const sea = {
    id: 'sea',
    type: 'background' as const,
    paint: { 'background-color': color('--color-map-sea') },
  }
  if (tiles) {
    return {
      version: 8,
      sources: { tiles: { type: 'raster', tiles: [tiles.url], tileSize: 256, maxzoom: 19 } },
      layers: [sea, { id: 'tiles', type: 'raster', source: 'tiles' }],
    }
  }
  return {
    version: 8,
    sources: {
      land: { type: 'geojson', data: NOTHING },
      borders: { type: 'geojson', data: NOTHING },
    },
    layers: [
      sea,
      { id: 'land', type: 'fill', source: 'land', paint: { 'fill-color': color('--color-map-land') } },
      {
        id: 'coast',
        type: 'line',
        source: 'land',
        paint: { 'line-color': color('--color-map-coast'), 'line-width': 0.8 },
      },
      {
        id: 'borders',
        type: 'line',
        source: 'borders',
        paint: { 'line-color': color('--color-map-border'), 'line-width': 0.8 },
      },
    ],
  }
}
