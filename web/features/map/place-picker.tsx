import { LocateFixed } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { t } from '../../i18n.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { MapView } from './map-view.tsx'
import type { LngLat } from './mercator.ts'
import styles from './place-picker.module.css'
import { placeIn, valueAt } from './place-value.ts'
import type { WorldMap } from './world-map.ts'

export interface PlacePickerProps {
  title: string
  value: string | null
  onPick: (value: string) => void
  onClose: () => void
}

/** A map with one pin, which goes where one clicks. */
export function PlacePicker({ title, value, onPick, onClose }: PlacePickerProps) {
  const [at, setAt] = useState<LngLat | null>(() => placeIn(value))
  const [map, setMap] = useState<WorldMap | null>(null)
  const start = useRef(at)

  useEffect(() => {
    if (map && start.current) map.goTo(start.current, { isInstant: true })
  }, [map])

  const { lng, lat } = at ?? {}
  useEffect(() => {
    if (!map || lng === undefined || lat === undefined) return
    const element = document.createElement('span')
    element.className = styles.pin ?? ''
    element.dataset.testid = 'picked-pin'
    const marker = map.pin(element, { lng, lat }, { draggable: true, anchor: 'bottom' })
    marker.on('dragend', () => setAt(marker.getLngLat()))
    return () => {
      marker.remove()
    }
  }, [map, lng, lat])

  return (
    <Dialog
      title={title}
      size="large"
      onClose={onClose}
      // It belongs to the cell that it was opened from, whose editor stays open behind it.
      marks={{ 'data-cell-popover': '' }}
      footer={
        <>
          <span className={styles.value} dir="ltr" role="status">
            {at ? valueAt(at).replace(';', '; ') : ''}
          </span>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button
            variant="primary"
            disabled={at === null}
            onClick={() => {
              onClose()
              if (at) onPick(valueAt(at))
            }}
          >
            {t('Use this place')}
          </Button>
        </>
      }
    >
      {/* The focus has to go somewhere in here: left behind the dialog, it would close the cell's editor. */}
      <div className={styles.map} tabIndex={-1} data-autofocus>
        <MapView label={t('Map')} onMap={setMap} onClick={setAt} isPlacing>
          {map && (
            <Button
              size="small"
              icon={LocateFixed}
              className={styles.middle}
              onClick={() => setAt(map.gl.getCenter())}
            >
              {t('Put the pin in the middle')}
            </Button>
          )}
        </MapView>
      </div>
    </Dialog>
  )
}
