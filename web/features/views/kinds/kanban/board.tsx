import { Plus } from 'lucide-react'
import type { KeyboardEvent, MouseEvent, RefObject } from 'react'
import { type StoreApi, useStore } from 'zustand'
import type { RecordId } from '../../../../../src/core/model.ts'
import { m } from '../../../../messages.gen.ts'
import { Button } from '../../../../ui/button.tsx'
import { type BoardParts, BoardProvider } from './board-context.ts'
import styles from './kanban.module.css'
import { Stack } from './stack.tsx'
import type { StackKey } from './stack-by.ts'
import { MAX_STACKS, type Stack as StackModel } from './stacks.ts'
import type { StackWindow } from './use-stack-window.ts'

export interface BoardProps {
  root: RefObject<HTMLDivElement | null>
  label: string
  parts: BoardParts
  /** On the board, in order. */
  shown: readonly StackModel[]
  window: StackWindow
  /** True where there are more stacks than a board shows. */
  hasMore: boolean
  spoken: StoreApi<string>
  onKeyDown: (event: KeyboardEvent) => void
  /** A press on a card. */
  onCard: (id: RecordId, event: MouseEvent) => void
  /** The menu of a card. */
  onCardMenu: (id: RecordId, anchor: Element | { x: number; y: number }) => void
  /** Absent where the person may not. */
  onAddStack?: () => void
}

/** Stacks beside each other. */
export function Board(props: BoardProps) {
  const { root, label, parts, shown, window, hasMore, spoken, onCard, onCardMenu } = props
  const { first, last, before, after, cardWidth } = window

  function onClick(event: MouseEvent) {
    const card = cardOf(event)
    if (card === null || !(event.target instanceof Element)) return
    const menu = event.target.closest('[data-card-menu]')
    if (menu) return onCardMenu(card, menu)
    // Links, pictures and check boxes of the card answer for themselves.
    if (
      event.target.closest('[data-interactive], [role="checkbox"]') ||
      (event.target.closest('a') && event.ctrlKey)
    )
      return
    onCard(card, event)
  }

  function onContextMenu(event: MouseEvent) {
    if (!(event.target instanceof Element)) return
    const card = cardOf(event)
    const head = event.target.closest<HTMLElement>('[data-stack-grip]')
    if (card === null && !head) return
    event.preventDefault()
    const isKey = event.clientX === 0 && event.clientY === 0
    const anchor = isKey ? event.target : { x: event.clientX, y: event.clientY }
    if (card !== null) onCardMenu(card, anchor)
    else if (head) parts.onStackMenu(keyOfStack(head), anchor)
  }

  return (
    <BoardProvider value={parts}>
      {/* biome-ignore lint/a11y/useSemanticElements: a region would be announced at each stack */}
      <div
        ref={root}
        role="group"
        aria-label={label}
        className={styles.board}
        data-ghost-class={styles.ghost}
        data-testid="kanban-board"
        onScroll={window.onScroll}
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
      <Spoken spoken={spoken} />
    </BoardProvider>
  )
}

/** As in the style sheet. */
const GAP = 12

/** What was done by the keyboard, for who does not see it. */
function Spoken({ spoken }: { spoken: StoreApi<string> }) {
  const text = useStore(spoken)
  return (
    <div role="status" className="visually-hidden" data-testid="kanban-spoken">
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
