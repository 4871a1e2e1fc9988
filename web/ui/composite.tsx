import type { ComponentPropsWithRef, ReactNode } from 'react'

/*
 * Elements for which lint rules report false positives, because they check elements individually: parts of
 * widgets whose focus is on another element, and containers that handle bubbling events of their controls.
 */

/**
 * A row, cell or header of an ARIA grid drawn from positioned boxes. Native table elements cannot be recycled and
 * positioned, and the focus stays in one element that points at the cells. A plain tag name adds no component per cell.
 */
export const GridBox = 'div'

/** As `GridBox`, for a header within a line of text. */
export const GridText = 'span'

/** As `GridBox`, for a clickable cell, such as a day of a calendar. */
export const GridButton = 'button'

/** A container that handles bubbling keys, presses and focus changes of its controls. It is not a control itself. */
export const ControlGroup = 'div'

/** A group of nodes of an ARIA tree, of radio buttons or of questions; `<fieldset>` cannot be laid out as freely. */
export function Group(props: ComponentPropsWithRef<'div'>): ReactNode {
  return <div {...props} role={props.role ?? 'group'} />
}

/** A scrollable region without controls: focusable, so that the keyboard can scroll it. */
export function ScrollRegion(props: ComponentPropsWithRef<'div'>): ReactNode {
  return <div {...props} {...REACHABLE} />
}

const REACHABLE = { tabIndex: 0 }

interface OptionProps extends ComponentPropsWithRef<'div'> {
  'aria-selected': boolean
  /** True for the active option, which is scrolled into view. */
  isActive?: boolean
  /** Scroll alignment of the active option. */
  block?: ScrollLogicalPosition
}

/** An option of a listbox whose keys go through an input that has the focus (`aria-activedescendant`). */
export function Option({ isActive = false, block = 'nearest', ...props }: OptionProps): ReactNode {
  const scroll = block === 'center' ? scrollToCenter : scrollToNearest
  return <div role="option" tabIndex={-1} {...props} ref={isActive ? scroll : undefined} />
}

const scrollToNearest = (element: Element | null) => element?.scrollIntoView({ block: 'nearest' })
const scrollToCenter = (element: Element | null) => element?.scrollIntoView({ block: 'center' })

/** `ref` of a control that takes the focus when it appears. */
export const focusOnMount = (element: HTMLElement | null): void => element?.focus()
