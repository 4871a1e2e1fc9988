import { EllipsisVertical } from 'lucide-react'
import { memo, useCallback, useEffect, useRef, useSyncExternalStore } from 'react'
import { useStore } from 'zustand'
import type { RecordId } from '../../../../../src/core/model.ts'
import { shownText } from '../../../../cells/index.ts'
import { usePeople } from '../../../../cells/people-context.ts'
import { m } from '../../../../messages.gen.ts'
import type { StackKey } from '../../../../records/layouts/stack-by.ts'
import { isChecked } from '../../cards/chosen.ts'
import { RecordCard } from '../../cards/record-card.tsx'
import styles from './kanban.module.css'
import { useKanbanContext } from './kanban-context.ts'

export interface KanbanCardProps {
  stackKey: StackKey
  id: RecordId
  index: number
  /** Number of cards in the stack, for screen readers. */
  count: number
  width: number
  observe: (element: HTMLElement, id: RecordId) => () => void
}

/** A card of a stack, which renders when its record changes. */
export const KanbanCard = memo(function KanbanCard({
  stackKey,
  id,
  index,
  count,
  width,
  observe,
}: KanbanCardProps) {
  const { store, drag, focus, fields, cover, coverFit, colorOf, checked, openId, mayEdit } =
    useKanbanContext()
  const element = useRef<HTMLDivElement>(null)
  const people = usePeople()
  const row = useSyncExternalStore(
    useCallback((onChange) => store.onRow(id, onChange), [store, id]),
    () => store.row(id),
  )
  const isActive = useSyncExternalStore(focus.subscribe, () => focus.isAt(stackKey, id))
  const isDragged = useStore(drag.current, (current) => {
    return current?.kind === 'cards' && current.ids.includes(id)
  })

  useEffect(() => (element.current ? observe(element.current, id) : undefined), [observe, id])
  useEffect(() => {
    if (isActive && focus.takeFocus()) element.current?.focus({ preventScroll: true })
  })

  if (!row) return null
  const title = fields.title ? shownText(fields.title.field, row.values(fields.title.field.id), people) : ''
  const isSelected = isChecked(checked, id)
  return (
    // biome-ignore lint/a11y/useSemanticElements: items of a virtualized list
    <div
      ref={element}
      role="listitem"
      tabIndex={isActive ? 0 : -1}
      aria-label={[title || m.common_untitled(), ...(isSelected ? [m.kanban_selected()] : [])].join(', ')}
      aria-roledescription={m.kanban_card()}
      aria-setsize={count}
      aria-posinset={index + 1}
      className={styles.card}
      data-card={JSON.stringify(id)}
      data-index={index}
      data-dragged={isDragged || undefined}
      data-grabs={mayEdit || undefined}
      data-testid="kanban-card"
    >
      <RecordCard
        row={row}
        fields={fields}
        width={width}
        cover={cover}
        coverFit={coverFit}
        color={colorOf?.(row) ?? null}
        isSelected={isSelected}
        isActive={id === openId}
        hidesEmpty
        actions={
          <button
            type="button"
            tabIndex={-1}
            className={styles.more}
            data-interactive
            data-card-menu
            aria-label={m.common_more()}
            aria-haspopup="menu"
          >
            <EllipsisVertical size={15} aria-hidden />
          </button>
        }
      />
    </div>
  )
})
