import { MapPinOff, Maximize, Minus, Plus } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { t } from '../../i18n.ts'
import { trpc } from '../../trpc.ts'
import { IconButton } from '../../ui/button.tsx'
import { EmptyState, ErrorState } from '../../ui/states.tsx'
import styles from './map-view.module.css'
import type { LngLat } from './mercator.ts'
import { canDrawMaps, openWorldMap, type WorldMap } from './world-map.ts'

export interface MapViewProps {
  label: string
  /** The map is there; called again with null when it goes. */
  onMap: (map: WorldMap | null) => void
  /** A click on the map beside all pins. */
  onClick?: (at: LngLat) => void
  /** Shows everything there is to be seen. */
  onFit?: () => void
  /** A click places something: the pointer says so. */
  isPlacing?: boolean
  /** Over the map: a card, a note. */
  children?: ReactNode
}

/** A map of the world to put pins on, or plain words where the browser cannot draw one. */
export function MapView({ label, onMap, onClick, onFit, isPlacing = false, children }: MapViewProps) {
  const info = trpc.app.info.useQuery()
  const box = useRef<HTMLDivElement>(null)
  const [map, setMap] = useState<WorldMap | null>(null)
  const [failure, setFailure] = useState<{ error: unknown } | null>(null)
  const [attempt, setAttempt] = useState(0)
  const canDraw = canDrawMaps()
  const latest = useRef({ onMap, onClick })
  latest.current = { onMap, onClick }
  const tiles = info.data?.mapTiles
  const { error: infoError, refetch } = info
  const isKnown = tiles !== undefined

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt is the same effect again
  useEffect(() => {
    const element = box.current
    if (!element || tiles === undefined || !canDraw) return
    let isGone = false
    let opened: WorldMap | null = null
    openWorldMap(element, { tiles, label }).then(
      (world) => {
        if (isGone) return world.remove()
        opened = world
        // Pins and cards lie within the map: a click on one is none on the map.
        world.gl.on('click', ({ lngLat, originalEvent }) => {
          if (originalEvent.target === world.gl.getCanvas()) latest.current.onClick?.(lngLat)
        })
        setMap(world)
        latest.current.onMap(world)
      },
      (error: unknown) => setFailure({ error }),
    )
    return () => {
      isGone = true
      if (opened) latest.current.onMap(null)
      setMap(null)
      opened?.remove()
    }
  }, [isKnown, tiles?.url, canDraw, attempt])

  if (!canDraw) {
    return (
      <div className={styles.view} data-testid="map-unavailable">
        <EmptyState
          icon={MapPinOff}
          title={t('This browser cannot draw maps')}
          text={t('Maps need WebGL, which is switched off or missing here. The list has all records.')}
        />
      </div>
    )
  }
  const error = failure?.error ?? (isKnown ? null : infoError)
  if (error !== null) {
    return (
      <div className={styles.view}>
        <ErrorState
          title={t('The map could not be loaded')}
          error={error}
          onRetry={() => {
            setFailure(null)
            setAttempt(attempt + 1)
            void refetch()
          }}
        />
      </div>
    )
  }
  return (
    <div className={styles.view} data-testid="map" data-ready={map !== null || undefined}>
      <div ref={box} className={styles.canvas} data-placing={isPlacing || undefined} dir="ltr" />
      <div className={styles.controls} role="toolbar" aria-label={t('Map')}>
        <IconButton icon={Plus} size="small" label={t('Zoom in')} onClick={() => map?.gl.zoomIn()} />
        <IconButton icon={Minus} size="small" label={t('Zoom out')} onClick={() => map?.gl.zoomOut()} />
        {onFit && (
          <IconButton icon={Maximize} size="small" iconSize={14} label={t('Show all')} onClick={onFit} />
        )}
      </div>
      <small className={styles.source} dir="auto">
        {tiles ? tiles.attribution : t('Outlines: Natural Earth')}
      </small>
      {children}
    </div>
  )
}
