import {
  type FocusEvent,
  type KeyboardEvent,
  type MouseEvent,
  useCallback,
  useEffect,
  useRef,
  useState,
} from 'react'
import type { RecordId } from '../../../../../src/core/model.ts'
import type { CheckedRows, GridRow } from '../../../../grid/contract.ts'
import { direction } from '../../../../i18n.ts'
import { isMac, letterOf } from '../../../../ui/shortcuts.ts'
import { deleteChecked, deleteRecords } from '../../../records/commands/record-commands.ts'
import { can, type GetContext } from '../../../records/context/table-context.ts'
import { countChecked, isChecked, NO_ROWS, run, toggled } from '../../cards/chosen.ts'
import { placeAfterKey } from './gallery-layout.ts'
import type { GalleryScroll } from './use-gallery-scroll.ts'

interface GalleryFocusOptions {
  getContext: GetContext
  scroll: GalleryScroll
  records: number
  checked: CheckedRows
  onChecked: (checked: CheckedRows) => void
  /** Action of the last card, which adds a record. */
  onAdd: () => void
  onActive: (row: GridRow | undefined) => void
  openMenu: (index: number, anchor: Element | { x: number; y: number }) => void
  /** Moves the active card before an index. */
  moveTo: (from: number, before: number) => void
}

/** Keyboard focus and selection of gallery cards. */
export function useGalleryFocus(options: GalleryFocusOptions) {
  const latest = useRef(options)
  latest.current = options
  const { scroll, records } = options
  const { source } = options.getContext().store
  const [active, setActive] = useState<{ index: number; id: RecordId | null }>({ index: 0, id: null })
  /** Start of a range selection with Shift. */
  const start = useRef(0)
  const takesFocus = useRef(false)
  // The focus follows its record when records before it change, and keeps its position when the record is deleted.
  const known = active.id === null ? undefined : source.indexOf(active.id)
  const index = Math.min(known ?? active.index, Math.max(0, scroll.layout.places - 1))

  const select = useCallback((to: number, focuses = true) => {
    const { getContext, scroll, onActive } = latest.current
    const row = getContext().store.source.getRow(to)
    takesFocus.current = focuses
    setActive({ index: to, id: row?.id ?? null })
    onActive(row)
    scroll.reveal(to)
  }, [])

  const takeFocus = useCallback(() => {
    takesFocus.current = true
    setActive((before) => ({ ...before }))
  }, [])

  // Moves the focus with its record.
  useEffect(() => {
    const focused = document.activeElement
    if (!(focused instanceof HTMLElement) || !scroll.box.current?.contains(focused)) return
    const { index: at } = focused.dataset
    if (at !== undefined && Number(at) !== index) takesFocus.current = true
  }, [index, scroll.box])

  // After every render, because the card to focus may just have been mounted.
  useEffect(() => {
    if (!takesFocus.current) return
    const card = scroll.box.current?.querySelector<HTMLElement>(`[data-index="${index}"]`)
    if (!card) return
    takesFocus.current = false
    card.focus({ preventScroll: true })
  })

  function open(at: number) {
    const { getContext, onAdd, records } = latest.current
    if (at >= records) return onAdd()
    const row = source.getRow(at)
    if (row && getContext().store.isSaved(row.id)) getContext().openRecord(row.id)
  }

  function choose(at: number, event: Pick<MouseEvent, 'shiftKey'>) {
    const { checked, onChecked } = latest.current
    const id = source.getRow(at)?.id
    if (event.shiftKey) onChecked(run((i) => source.getRow(i)?.id, start.current, at))
    else if (id !== undefined) {
      start.current = at
      onChecked(toggled(checked, id))
    }
  }

  // Tracks focus changes from Tab or screen readers.
  function onFocus({ target }: FocusEvent<HTMLElement>) {
    if (target.dataset.index === undefined) return
    const at = Number(target.dataset.index)
    const id = source.getRow(at)?.id ?? null
    if (at !== index || id !== active.id) setActive({ index: at, id })
  }

  function onClick(event: MouseEvent<HTMLElement>) {
    const at = indexOf(event.target)
    if (at === null) return
    const choosing = event.shiftKey || event.ctrlKey || event.metaKey
    if (choosing && at < records) {
      choose(at, event)
      select(at)
      return
    }
    start.current = at
    select(at)
    open(at)
  }

  function onContextMenu(event: MouseEvent<HTMLElement>) {
    const at = indexOf(event.target)
    if (at === null || at >= records) return
    event.preventDefault()
    select(at)
    // Some browsers report no position for the keyboard.
    const isKey = event.clientX === 0 && event.clientY === 0
    const card = event.target instanceof Element ? event.target.closest('[data-index]') : null
    latest.current.openMenu(at, isKey && card ? card : { x: event.clientX, y: event.clientY })
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    if (event.defaultPrevented || !(event.target instanceof HTMLElement)) return
    if (event.target.dataset.index === undefined) return
    const { getContext, checked, onChecked, moveTo } = latest.current
    const mod = isMac ? event.metaKey : event.ctrlKey
    const done = () => event.preventDefault()
    if (event.altKey) return
    if (mod && event.key.startsWith('Arrow')) {
      done()
      const to = placeAfterKey(scroll.layout, index, event.key, keyOptions())
      if (to === null || to === index || index >= records) return
      moveTo(index, to > index ? Math.min(to, records - 1) + 1 : to)
      scroll.reveal(Math.min(to, records - 1))
      return
    }
    if (mod && letterOf(event) === 'a') {
      done()
      return onChecked({ kind: 'all', except: new Set() })
    }
    if (event.key === ' ' && mod) {
      done()
      return choose(index, { shiftKey: false })
    }
    if (event.key === 'Enter' || event.key === ' ') {
      done()
      return open(index)
    }
    if (event.key === 'Escape' && countChecked(checked, records) > 0) {
      done()
      return onChecked(NO_ROWS)
    }
    if ((event.key === 'Delete' || event.key === 'Backspace') && can(getContext(), 'record.delete')) {
      const id = source.getRow(index)?.id
      if (id === undefined) return
      done()
      onChecked(NO_ROWS)
      void (isChecked(checked, id) ? deleteChecked(getContext(), checked) : deleteRecords(getContext(), [id]))
      return
    }
    if (mod && event.key !== 'Home' && event.key !== 'End') return
    const to = placeAfterKey(scroll.layout, index, event.key, keyOptions())
    if (to === null) return
    done()
    if (event.shiftKey) onChecked(run((i) => source.getRow(i)?.id, start.current, Math.min(to, records - 1)))
    else start.current = to
    select(to)
  }

  const keyOptions = () => ({ isRtl: direction() === 'rtl', pageRows: scroll.pageRows() })
  return { index, select, takeFocus, onFocus, onClick, onContextMenu, onKeyDown }
}

/** The slot of an event's target; null for controls within a card, which handle their clicks. */
function indexOf(target: EventTarget): number | null {
  if (!(target instanceof Element)) return null
  const card = target.closest<HTMLElement>('[data-index]')
  const control = target.closest('a, button, [data-interactive]')
  if (!card || (control && card.contains(control) && control !== card)) return null
  return Number(card.dataset.index)
}
