import { Plus } from 'lucide-react'
import {
  type KeyboardEvent,
  type MouseEvent,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useState,
} from 'react'
import { type StoreApi, useStore } from 'zustand'
import type { RecordId } from '../../../../../src/core/model.ts'
import { m } from '../../../../messages.gen.ts'
import { lazyPart } from '../../../../navigation/lazy-screen.ts'
import { MAX_STACKS, type StackKey } from '../../../../records/layouts/stack-by.ts'
import { Button } from '../../../../ui/button.tsx'
import { useIsNarrow } from '../../../layout/sidebar-state.ts'
import styles from './kanban.module.css'
import { type KanbanContext, KanbanProvider } from './kanban-context.ts'
import type { KanbanDrag } from './kanban-drag.ts'
import { Stack } from './stack.tsx'
import type { Stack as StackModel } from './stacks.ts'

const KanbanDragging = lazyPart(() => import('./kanban-dragging.tsx'), 'KanbanDragging')

interface KanbanProps {
  root: RefObject<HTMLDivElement | null>
  label: string
  kanban: KanbanContext
  /** The visible stacks, in order. */
  shown: readonly StackModel[]
  window: StackWindow
  /** True if there are more stacks than a kanban shows. */
  hasMore: boolean
  announcement: StoreApi<string>
  onKeyDown: (event: KeyboardEvent) => void
  /** Called on a click on a card. */
  onCard: (id: RecordId, event: MouseEvent) => void
  /** The menu of a card. */
  onCardMenu: (id: RecordId, anchor: Element | { x: number; y: number }) => void
  /** Absent if the user may not add stacks. */
  onAddStack?: () => void
}

/** The horizontal list of stacks. */
export function Kanban(props: KanbanProps) {
  const { root, label, kanban, shown, window, hasMore, announcement, onCard, onCardMenu } = props
  const { first, last, before, after, cardWidth } = window
  const { drag } = kanban
  const canDrag = useLoadDragging(drag, shown)

  function onClick(event: MouseEvent) {
    const card = cardOf(event)
    if (card === null || !(event.target instanceof Element)) return
    const menu = event.target.closest('[data-card-menu]')
    if (menu) return onCardMenu(card, menu)
    // Links, pictures and check boxes of the card handle their own clicks.
    if (
      event.target.closest('[data-interactive], [role="checkbox"]') ||
      (event.target.closest('a') && event.ctrlKey)
    )
      return
    onCard(card, event)
  }

  function onContextMenu(event: MouseEvent) {
    // A long press that started a drag opens the context menu in some browsers.
    if (!(event.target instanceof Element) || drag.current.getState()) return
    const card = cardOf(event)
    const head = event.target.closest<HTMLElement>('[data-stack-grip]')
    if (card === null && !head) return
    event.preventDefault()
    const isKey = event.clientX === 0 && event.clientY === 0
    const anchor = isKey ? event.target : { x: event.clientX, y: event.clientY }
    if (card !== null) onCardMenu(card, anchor)
    else if (head) kanban.onStackMenu(keyOfStack(head), anchor)
  }

  return (
    <KanbanProvider value={kanban}>
      {/* biome-ignore lint/a11y/useSemanticElements: a region would be announced at each stack */}
      <div
        ref={root}
        role="group"
        aria-label={label}
        className={styles.stacks}
        data-testid="kanban"
        onScroll={window.onScroll}
        onPointerDown={drag.onPointerDown}
        onKeyDown={props.onKeyDown}
        onClick={onClick}
        onContextMenu={onContextMenu}
      >
        {before > 0 && <div aria-hidden style={{ flex: 'none', inlineSize: before - GAP }} />}
        {shown.slice(first, last + 1).map((stack, at) => (
          <Stack key={JSON.stringify(stack.key)} stack={stack} index={first + at} cardWidth={cardWidth} />
        ))}
        {after > 0 && <div aria-hidden style={{ flex: 'none', inlineSize: after - GAP }} />}
        {props.onAddStack && (
          <Button variant="ghost" icon={Plus} className={styles.addStack} onClick={props.onAddStack}>
            {m.kanban_add_stack()}
          </Button>
        )}
        {hasMore && (
          <p className={styles.moreStacks}>
            {m.kanban_showing_first_stacks_filter_see({
              count: MAX_STACKS,
            })}
          </p>
        )}
      </div>
      {canDrag && <KanbanDragging drag={drag} root={root} stacks={shown} />}
      <Announcer announcement={announcement} />
    </KanbanProvider>
  )
}

/**
 * Loads dnd-kit after the first stacks are shown: it does not delay them, and cards can later be dragged offline. If
 * loading failed, a press on a card retries.
 */
function useLoadDragging({ pressed }: KanbanDrag, stacks: readonly StackModel[]): boolean {
  const [isLoaded, setLoaded] = useState(false)
  const isPressed = useStore(pressed, (press) => press !== null)
  const areRead = stacks.some(({ totals }) => totals !== null)
  useEffect(() => {
    if (isLoaded || (!areRead && !isPressed)) return
    KanbanDragging.preload().then(
      () => setLoaded(true),
      (error) => console.warn('drag and drop could not be loaded', error),
    )
  }, [isLoaded, areRead, isPressed])
  return isLoaded
}

/** Gap between stacks, as in CSS. */
const GAP = 12

/** Announces keyboard actions to screen readers. */
function Announcer({ announcement }: { announcement: StoreApi<string> }) {
  const text = useStore(announcement)
  return (
    <div role="status" className="visually-hidden" data-testid="kanban-announcement">
      {text}
    </div>
  )
}

function cardOf(event: MouseEvent): RecordId | null {
  if (!(event.target instanceof Element)) return null
  const card = event.target.closest<HTMLElement>('[data-card]')
  return card ? (JSON.parse(card.dataset.card ?? 'null') as RecordId | null) : null
}

const keyOfStack = (part: HTMLElement): StackKey =>
  JSON.parse(part.closest<HTMLElement>('[data-stack]')?.dataset.stack ?? 'null')

/** Widths in pixels. */
const STACK_PX = 296
const COLLAPSED_PX = 48
const GAP_PX = 12
/** Sum of the paddings on both sides of a stack's cards. */
const INSET_PX = 16
/** With more stacks than this, only visible ones are mounted. */
const MOST_DRAWN = 30
const AHEAD_PX = 600

interface StackWindow {
  /** Indexes of the first and last mounted stack. */
  first: number
  last: number
  /** Width of the stacks that are not mounted. */
  before: number
  after: number
  cardWidth: number
  onScroll: () => void
  reveal: (key: StackKey) => void
}

/** Virtual scrolling of stacks. In a narrow window, each takes the full width. */
export function useStackWindow(
  root: RefObject<HTMLElement | null>,
  stacks: readonly StackModel[],
): StackWindow {
  const isNarrow = useIsNarrow()
  const [view, setView] = useState({ start: 0, width: 1600 })
  const width = isNarrow ? Math.max(240, view.width - 40) : STACK_PX
  const starts = useMemo(() => {
    const all = [0]
    for (const { isCollapsed } of stacks)
      all.push((all.at(-1) ?? 0) + (isCollapsed ? COLLAPSED_PX : width) + GAP_PX)
    return all
  }, [stacks, width])

  const look = useCallback(() => {
    const element = root.current
    if (!element) return
    // `scrollLeft` is negative in a right-to-left page.
    const next = { start: Math.abs(element.scrollLeft), width: element.clientWidth }
    setView((old) => {
      const isNear = Math.abs(old.start - next.start) < AHEAD_PX / 3 && old.width === next.width
      return isNear ? old : next
    })
  }, [root])
  useLayoutEffect(() => {
    const element = root.current
    if (!element) return
    look()
    const observer = new ResizeObserver(look)
    observer.observe(element)
    return () => observer.disconnect()
  }, [root, look])

  const isWhole = stacks.length <= MOST_DRAWN
  const indexAt = (offset: number) =>
    Math.max(
      0,
      starts.findLastIndex((start) => start <= offset),
    )
  const first = isWhole ? 0 : Math.min(stacks.length - 1, indexAt(view.start - AHEAD_PX))
  const last = isWhole
    ? stacks.length - 1
    : Math.min(stacks.length - 1, indexAt(view.start + view.width + AHEAD_PX))
  const end = starts.at(-1) ?? 0

  return {
    first,
    last,
    before: starts[first] ?? 0,
    after: end - (starts[last + 1] ?? end),
    cardWidth: width - INSET_PX,
    onScroll: look,
    reveal(key) {
      const element = root.current
      const index = stacks.findIndex((stack) => stack.key === key)
      if (!element || index < 0) return
      const start = starts[index] ?? 0
      const stop = (starts[index + 1] ?? start) - GAP_PX
      const sign = element.scrollLeft < 0 || getComputedStyle(element).direction === 'rtl' ? -1 : 1
      const shown = Math.abs(element.scrollLeft)
      if (start < shown) element.scrollLeft = sign * start
      else if (stop > shown + element.clientWidth - GAP_PX)
        element.scrollLeft = sign * (stop - element.clientWidth + 2 * GAP_PX)
    },
  }
}
