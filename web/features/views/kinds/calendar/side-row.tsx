import { type PointerEvent, useSyncExternalStore } from 'react'
import type { RecordId } from '../../../../../src/core/model.ts'
import type { GridRow } from '../../../../grid/source.ts'
import { m } from '../../../../messages.gen.ts'
import { Skeleton } from '../../../../ui/states.tsx'
import type { RecordStore } from '../../../records/record-store.ts'
import type { ChipStyle } from './event-chip.tsx'
import styles from './side.module.css'

export interface SideRowProps {
  index: number
  store: RecordStore
  /** The line that takes the focus by Tab. */
  isStop: boolean
  openId: RecordId | null
  draw: (row: GridRow) => { title: string; when: string; color: string | null }
  onOpen: (row: GridRow) => void
  onLit: (id: RecordId | null) => void
  onPress?: (event: PointerEvent, row: GridRow) => void
}

/** A record of the list beside the calendar. */
export function SideRow({ index, store, isStop, openId, draw, onOpen, onLit, onPress }: SideRowProps) {
  const row = useSyncExternalStore(
    (onChange) => store.source.subscribeRow(index, onChange),
    () => store.source.getRow(index),
  )
  const place: ChipStyle = { '--index': index }
  if (!row) {
    return (
      <li className={styles.line} style={place}>
        <span className={styles.waiting}>
          <Skeleton width="70%" />
          <Skeleton width="40%" height={11} />
        </span>
      </li>
    )
  }
  const { title, when, color } = draw(row)
  const mark: ChipStyle = color === null ? {} : { '--event': color }
  return (
    <li className={styles.line} style={place} data-state={row.state}>
      <button
        type="button"
        tabIndex={isStop ? 0 : -1}
        data-index={index}
        data-open={openId === row.id || undefined}
        data-testid="calendar-list-row"
        data-tip={onPress ? m.calendar_drag_to_a_day() : undefined}
        onPointerDown={(down) => onPress?.(down, row)}
        onPointerEnter={() => onLit(row.id)}
        onFocus={() => onLit(row.id)}
        onBlur={() => onLit(null)}
        onClick={() => onOpen(row)}
      >
        <i className={styles.mark} style={mark} data-none={color === null || undefined} aria-hidden />
        <span className="visually-hidden">{[title, when].join(', ')}</span>
        <span className={styles.text} aria-hidden>
          <span className={styles.title} dir="auto">
            {title}
          </span>
          <small>{when}</small>
        </span>
      </button>
    </li>
  )
}
