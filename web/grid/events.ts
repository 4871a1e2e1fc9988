import type { DragEvent, FocusEvent, InputEvent, KeyboardEvent, MouseEvent, PointerEvent } from 'react'
import { mayCheck } from './checks.ts'
import { copy, paste } from './clipboard-actions.ts'
import type { Engine, Hit, Part } from './engine.ts'
import { dragFiles, dropFiles } from './file-actions.ts'
import { placeOf } from './groups/tree.ts'
import {
  allBounds,
  type CellPosition,
  clampCell,
  contains,
  isSingleCell,
  selectCell,
  selectRow,
} from './selection.ts'
import { finishComposing, startComposing, startEditing } from './states/editing.ts'

/** Characters of a tooltip; more would cover the screen. */
const MAX_TOOLTIP = 600

/** Event handlers of the grid's element: they resolve the hit part and delegate to the active mode. */
export function gridEvents(engine: Engine) {
  let touched = false
  let composed: ReturnType<typeof setTimeout> | undefined
  return {
    onKeyDown(event: KeyboardEvent) {
      if (engine.mode.get().onKeyDown?.(event.nativeEvent, engine)) event.preventDefault()
    },
    onPointerDown(event: PointerEvent) {
      touched = event.pointerType === 'touch'
      const hit = hitOf(engine, event.target)
      engine.pressedOnActive = hit !== null && isActiveAlone(engine, hit)
      // A touch may start scrolling; onClick handles taps.
      if (!hit || touched || isInEditor(event.target)) return
      if (opensLink(event)) return
      engine.mode.get().onPointerDown?.(hit, event.nativeEvent, engine)
    },
    // Pressing a cell must neither move the focus nor start a text selection.
    onMouseDown(event: MouseEvent) {
      if (isInEditor(event.target)) return
      // Leave the scrollbar to the browser.
      if (event.target === engine.viewport.element) return
      event.preventDefault()
      if (engine.mode.get().name !== 'editing') engine.focus()
    },
    onClick(event: MouseEvent) {
      if (!touched || isInEditor(event.target)) return
      const hit = hitOf(engine, event.target)
      if (hit) tap(engine, hit, event)
    },
    onDoubleClick(event: MouseEvent) {
      const hit = hitOf(engine, event.target)
      const isControl =
        event.target instanceof Element && event.target.closest('button, input, a, [data-interactive]')
      if (hit && !isControl) engine.mode.get().onDoubleClick?.(hit, event.nativeEvent, engine)
    },
    onContextMenu(event: MouseEvent) {
      const hit = hitOf(engine, event.target)
      if (!hit || isInEditor(event.target)) return
      if (openMenu(engine, hit, { x: event.clientX, y: event.clientY })) event.preventDefault()
    },
    onDragOver: (event: DragEvent) => dragFiles(engine, event, cellAt(engine, event.target)),
    onDrop: (event: DragEvent) => dropFiles(engine, event, cellAt(engine, event.target)),
    /** Shows truncated text as a tooltip while the pointer rests on it. */
    onMouseOver(event: MouseEvent) {
      const cell =
        event.target instanceof Element ? event.target.closest<HTMLElement>('[data-part="cell"]') : null
      const text = cell?.firstElementChild
      if (!cell || !text || cell.dataset.failed) return
      if (isCutIn(text)) cell.title = tooltipOf(text).slice(0, MAX_TOOLTIP)
      else cell.removeAttribute('title')
    },
    /** Tab into the grid without a selection selects the first visible cell. */
    onFocus(event: FocusEvent) {
      // Only the receiver takes text, so the scroll container forwards the focus.
      if (event.target === engine.viewport.element) return engine.receiver?.focus({ preventScroll: true })
      if (event.target === engine.receiver && !engine.isTakingFocus) takeFocus(engine)
    },
    onCompositionStart() {
      clearTimeout(composed)
      startComposing(engine)
    },
    // Korean input ends a syllable and starts the next within one key press, which does not end the composition.
    onCompositionEnd() {
      composed = setTimeout(() => finishComposing(engine))
    },
    onInput({ nativeEvent }: InputEvent<HTMLTextAreaElement>) {
      const isComposing = engine.mode.get().name === 'composing'
      if (nativeEvent instanceof globalThis.InputEvent && !nativeEvent.isComposing && !isComposing)
        finishComposing(engine)
    },
    onBlur() {
      if (engine.mode.get().name === 'composing' && document.hasFocus()) finishComposing(engine)
    },
    /** Clipboard events reach the document while the grid has the focus. */
    listenToClipboard(): () => void {
      const isOurs = () => engine.hasFocus
      const onCopy = (event: ClipboardEvent) => isOurs() && copy(engine, event, false)
      const onCut = (event: ClipboardEvent) => isOurs() && copy(engine, event, true)
      const onPaste = (event: ClipboardEvent) => {
        if (isOurs())
          paste(engine, event).catch((error: Error) => engine.commands.notify(error.message, 'error'))
      }
      document.addEventListener('copy', onCopy)
      document.addEventListener('cut', onCut)
      document.addEventListener('paste', onPaste)
      return () => {
        clearTimeout(composed)
        document.removeEventListener('copy', onCopy)
        document.removeEventListener('cut', onCut)
        document.removeEventListener('paste', onPaste)
      }
    },
  }
}

/** Selects the first visible cell, unless there is a selection. */
export function takeFocus(engine: Engine): void {
  if (engine.selection.get() || engine.size.rows === 0 || engine.size.columns === 0) return
  engine.selection.set(selectCell({ row: firstInSight(engine), column: 0 }))
}

/** The first fully visible row. */
function firstInSight({ lines, rowHeight, viewport }: Engine): number {
  const row = lines.rowAt(viewport.top)
  const next = lines.topOf(row) < viewport.top ? lines.rowAt(viewport.top + rowHeight) : row
  return lines.shown === 0 ? 0 : lines.rowOf(Math.min(lines.placeOf(next), lines.shown - 1))
}

/** The part of the grid an event hit. */
function hitOf(engine: Engine, target: EventTarget): Hit | null {
  const element = target instanceof Element ? target.closest<HTMLElement>('[data-part]') : null
  if (!element) return null
  const row = Number(element.dataset.row ?? -1)
  const column = Number(element.dataset.column ?? -1)
  return clampedHit(engine, { part: element.dataset.part as Part, element, row, column })
}

/** The cell an event hit, without the element: a selection must not hold elements. */
function cellAt(engine: Engine, target: EventTarget): CellPosition | null {
  const hit = hitOf(engine, target)
  return hit && { row: hit.row, column: hit.column }
}

// The row may have been removed since it was drawn.
function clampedHit(engine: Engine, hit: Hit): Hit | null {
  if (hit.row < 0 && hit.column < 0) return hit
  const within = clampCell({ row: Math.max(0, hit.row), column: Math.max(0, hit.column) }, engine.size)
  const isThere = (hit.row < 0 || within.row === hit.row) && (hit.column < 0 || within.column === hit.column)
  return isThere ? hit : null
}

function isActiveAlone(engine: Engine, { part, row, column }: Hit): boolean {
  const selection = engine.selection.get()
  const { active } = engine
  return (
    part === 'cell' &&
    selection !== null &&
    isSingleCell(selection) &&
    active?.row === row &&
    active.column === column
  )
}

const isInEditor = (target: EventTarget): boolean =>
  target instanceof Element && target.closest('[data-editor], [data-cell-popover]') !== null

/**
 * True for a press that opens a link. Selecting its cell could scroll it away from the pointer and swallow the click.
 */
const opensLink = ({ ctrlKey, metaKey, target }: PointerEvent): boolean => {
  const link = target instanceof Element ? target.closest<HTMLElement>('a[href]') : null
  return link !== null && (ctrlKey || metaKey || link.dataset.interactive !== undefined)
}

/** A tap selects a cell; on the selected cell it edits. */
function tap(engine: Engine, hit: Hit, event: MouseEvent): void {
  if (hit.part !== 'cell') {
    if (hit.part === 'header') engine.mode.get().onPointerDown?.(hit, pointerOf(event), engine)
    if (hit.part === 'rowNumber') tapRowNumber(engine, hit.row)
    return
  }
  const cell = { row: hit.row, column: hit.column }
  if (engine.props.tapOpensRecord) {
    engine.select(selectCell(cell))
    engine.commands.expandRow(hit.row, engine.columns[hit.column]?.fieldId ?? null)
    return
  }
  const active = engine.active
  if (active?.row === cell.row && active.column === cell.column) startEditing(engine, cell, null)
  else engine.mode.get().onPointerDown?.(hit, pointerOf(event), engine)
}

/** Touch has no hover to reveal the check box, so the row number takes its place. */
function tapRowNumber(engine: Engine, row: number): void {
  const { commands } = engine
  const { rights } = engine.props
  if (mayCheck(rights)) engine.checks.toggleOrReport(row, false)
  else commands.expandRow(row, null)
}

/** Converts a tap to a pointer event. */
const pointerOf = ({ clientX, clientY, ctrlKey, metaKey, shiftKey }: MouseEvent): globalThis.PointerEvent =>
  new PointerEvent('pointerdown', {
    clientX,
    clientY,
    ctrlKey,
    metaKey,
    shiftKey,
    pointerType: 'touch',
    button: 0,
  })

/** Opens the context menu; a right click outside the selection first selects the cell or row. */
function openMenu(engine: Engine, hit: Hit, point: { x: number; y: number }): boolean {
  const { commands } = engine
  const field = engine.columns[hit.column]
  if (hit.part === 'header' && field) {
    commands.openHeaderMenu(field.fieldId, { element: hit.element, point })
    return true
  }
  if (hit.part === 'summary' && hit.element.dataset.field) {
    commands.openSummaryMenu(hit.element.dataset.field, { element: hit.element, point })
    return true
  }
  if (hit.part === 'group') return openGroupMenu(engine, hit.element, point)
  if (hit.row < 0) return false
  const cell = { row: hit.row, column: Math.max(0, hit.column) }
  const selection = engine.selection.get()
  const isSelected =
    selection !== null && allBounds(selection, engine.size).some((bounds) => contains(bounds, cell))
  if (!isSelected) {
    engine.select(hit.part === 'cell' ? selectCell(cell) : selectRow(hit.row), null)
  }
  commands.openCellMenu({
    element: hit.element,
    point,
    rowIndex: hit.row,
    recordId: engine.rowAt(hit.row)?.id,
    fieldId: hit.part === 'cell' ? (field?.fieldId ?? null) : null,
    areas: engine.areas(),
  })
  return true
}

function openGroupMenu({ props }: Engine, element: HTMLElement, point: { x: number; y: number }): boolean {
  const { groups } = props
  const group = groups && placeOf(groups.tree, JSON.parse(element.dataset.group ?? '[]'))
  if (group) groups.openMenu(group.node, { element, point })
  return Boolean(group)
}

/** True for a list drawn as chips. */
const holdsChips = (element: Element): boolean => element.hasAttribute('data-variant')

const isCut = (element: Element): boolean =>
  element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight + 2

/** True if the text, or a chip in it, is truncated. */
const isCutIn = (element: Element): boolean =>
  isCut(element) ||
  (holdsChips(element) &&
    [...element.children].some(({ firstElementChild: text }) => text !== null && isCut(text)))

/** A cell's full text; chips are separated by commas. */
const tooltipOf = (element: Element): string =>
  holdsChips(element)
    ? [...element.children].map((part) => part.textContent).join(', ')
    : (element.textContent ?? '')
