import type { Engine } from '../engine.ts'

/** What a pointer is over, from the nearest element that says so in `data-part`. */
export type Part =
  | 'cell'
  | 'rowNumber'
  | 'rowHandle'
  | 'rowCheck'
  | 'rowExpand'
  | 'header'
  | 'headerMenu'
  | 'resize'
  | 'corner'
  | 'freezeDivider'
  | 'fillHandle'
  | 'addRow'
  | 'addField'
  | 'summary'
  | 'retry'
  | 'discard'
  | 'group'
  | 'none'

export interface Hit {
  part: Part
  /** The element that carries `data-part`. */
  element: HTMLElement
  /** -1 where the part has none. */
  row: number
  column: number
}

/** A pointer as modes see it; dragging repeats the last one while the grid scrolls under it. */
export interface Pointer {
  clientX: number
  clientY: number
  ctrlKey: boolean
  metaKey: boolean
  shiftKey: boolean
}

/**
 * What the grid is doing, which decides what keys and pointers mean. One mode per file; exactly one
 * is on at a time, and idle is where all of them end.
 */
export interface Mode {
  readonly name:
    | 'idle'
    | 'editing'
    | 'composing'
    | 'selecting'
    | 'filling'
    | 'resizing'
    | 'movingColumn'
    | 'movingRow'
  enter?(engine: Engine): void
  leave?(engine: Engine): void
  /** True: the key was used, and must do nothing else. */
  onKeyDown?(event: KeyboardEvent, engine: Engine): boolean
  onPointerDown?(hit: Hit, event: PointerEvent, engine: Engine): void
  onDoubleClick?(hit: Hit, event: MouseEvent, engine: Engine): void
}
