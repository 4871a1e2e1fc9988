import { MapPinOff, Maximize, Minus, Plus } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { m } from '../messages.gen.ts'
import { IconButton } from '../ui/button.tsx'
import { EmptyState, ErrorState } from '../ui/states.tsx'
import { type MapTiles, readMapTiles } from './map-tiles.ts'
import styles from './map-view.module.css'
import type { LngLat } from './mercator.ts'
import { canDrawMaps, openWorldMap, type WorldMap } from './world-map.ts'

interface MapViewProps {
  label: string
  /** Called with the map when it is ready, and with null when it is removed. */
  onMap: (map: WorldMap | null) => void
  /** A click on the map outside of all pins. */
  onClick?: (at: LngLat) => void
  /** Zooms to show all pins. */
  onFit?: () => void
  /** A click places a pin, so the cursor is a crosshair. */
  isPlacing?: boolean
  /** Content over the map, such as a card. */
  children?: ReactNode
}

/** A world map for pins, or a message if the browser cannot draw it. */
export function MapView({ label, onMap, onClick, onFit, isPlacing = false, children }: MapViewProps) {
  const box = useRef<HTMLDivElement>(null)
  const [shown, setShown] = useState<{ map: WorldMap; tiles: MapTiles | null } | null>(null)
  const [failure, setFailure] = useState<{ error: unknown } | null>(null)
  const canDraw = canDrawMaps()
  const latest = useRef({ label, onMap, onClick })
  latest.current = { label, onMap, onClick }

  useEffect(() => {
    const element = box.current
    // Retrying resets `failure` and mounts the element again.
    if (!element || !canDraw || failure) return
    let isGone = false
    let opened: WorldMap | null = null
    async function open(element: HTMLElement) {
      const tiles = await readMapTiles()
      if (isGone) return
      const map = await openWorldMap(element, { tiles, label: latest.current.label })
      if (isGone) return map.remove()
      opened = map
      // Pins and cards are inside the map element; ignores their clicks.
      map.gl.on('click', ({ lngLat, originalEvent }) => {
        if (originalEvent.target === map.gl.getCanvas()) latest.current.onClick?.(lngLat)
      })
      setShown({ map, tiles })
      latest.current.onMap(map)
    }
    open(element).catch((error: unknown) => isGone || setFailure({ error }))
    return () => {
      isGone = true
      if (opened) latest.current.onMap(null)
      setShown(null)
      opened?.remove()
    }
  }, [canDraw, failure])

  if (!canDraw) {
    return (
      <div className={styles.view} data-testid="map-unavailable">
        <EmptyState
          icon={MapPinOff}
          title={m.map_this_browser_cant_display_maps()}
          text={m.map_webgl_missing()}
        />
      </div>
    )
  }
  if (failure) {
    return (
      <div className={styles.view}>
        <ErrorState title={m.map_map_load_failed()} error={failure.error} onRetry={() => setFailure(null)} />
      </div>
    )
  }
  return (
    <div className={styles.view} data-testid="map" data-ready={shown !== null || undefined}>
      <div ref={box} className={styles.canvas} data-placing={isPlacing || undefined} dir="ltr" />
      <div className={styles.controls} role="toolbar" aria-label={m.map_map()}>
        <IconButton icon={Plus} size="small" label={m.map_zoom_in()} onClick={() => shown?.map.gl.zoomIn()} />
        <IconButton
          icon={Minus}
          size="small"
          label={m.map_zoom_out()}
          onClick={() => shown?.map.gl.zoomOut()}
        />
        {onFit && (
          <IconButton icon={Maximize} size="small" iconSize={14} label={m.map_show_all()} onClick={onFit} />
        )}
      </div>
      <small className={styles.source} dir="auto">
        {shown?.tiles ? shown.tiles.attribution : m.map_map_data_natural_earth()}
      </small>
      {children}
    </div>
  )
}
