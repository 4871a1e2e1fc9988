import { Plus } from 'lucide-react'
import { memo, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { useStore } from 'zustand'
import { m } from '../../../../messages.gen.ts'
import type { StackKey } from '../../../../records/layouts/stack-by.ts'
import { Button } from '../../../../ui/button.tsx'
import { Skeleton } from '../../../../ui/states.tsx'
import { useCardHeights, useCardScroll } from './card-scroll.ts'
import { Composer } from './composer.tsx'
import styles from './kanban.module.css'
import { KanbanCard } from './kanban-card.tsx'
import { useKanbanContext } from './kanban-context.ts'
import { StackHead } from './stack-head.tsx'
import type { Stack as StackModel } from './stacks.ts'

export interface StackProps {
  stack: StackModel
  /** Its place on the kanban. */
  index: number
  /** Pixels across, of its cards. */
  cardWidth: number
}

/** A stack with its visible cards. */
export const Stack = memo(function Stack({ stack, index, cardWidth }: StackProps) {
  const { layout, drag, titleOf } = useKanbanContext()
  const { key, isCollapsed } = stack
  const cards = layout.loaded.stack(key)
  useSyncExternalStore(
    useMemo(() => (listener: () => void) => layout.loaded.subscribe(key, listener), [layout, key]),
    () => cards.version,
  )
  const line = useStore(drag.current, (current) => {
    const over = current?.kind === 'stack' ? current.over?.index : undefined
    return over === index ? 'start' : over === index + 1 ? 'end' : undefined
  })
  return (
    <section
      className={styles.stack}
      aria-label={titleOf(key)}
      data-stack={JSON.stringify(key)}
      data-index={index}
      data-collapsed={isCollapsed || undefined}
      data-line={line}
      data-testid="kanban-stack"
    >
      <StackHead stack={stack} count={cards.count} />
      {isCollapsed ? (
        <DropLine stackKey={key} isWhole />
      ) : (
        <Cards stack={stack} cardWidth={cardWidth} version={cards.version} />
      )}
    </section>
  )
})

interface CardsProps {
  stack: StackModel
  cardWidth: number
  /** Grows whenever the stack looks different. */
  version: number
}

function Cards({ stack: { key }, cardWidth, version }: CardsProps) {
  const { layout, store, composer, mayAdd, onAdd, titleOf, register } = useKanbanContext()
  const list = useRef<HTMLDivElement>(null)
  const cards = layout.loaded.stack(key)
  const [measured, setMeasured] = useState(0)
  const heights = useCardHeights(() => setMeasured((n) => n + 1))
  const length = cards.count ?? Math.max(cards.segments.end, UNKNOWN)
  const scroll = useCardScroll(list, { cards, length, heights, revision: `${version} ${measured}`, store })
  const { first, last, tops } = scroll.mounted

  useEffect(() => {
    layout.paging().setVisible(key, { first, last })
  }, [layout, key, first, last])
  useEffect(() => () => layout.paging().setHidden(key), [layout, key])
  useEffect(() => {
    register(key, { reveal: (index) => scroll.reveal(index) })
    return () => register(key, null)
  })

  const indexes = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at)
  const own = composer?.key === key ? composer : null
  return (
    <>
      {own?.at === 'top' && <Composer key="top" composer={own} />}
      <div ref={list} className={styles.cards} data-cards onScroll={scroll.onScroll}>
        {/* biome-ignore lint/a11y/useSemanticElements: a list of which only a part is mounted */}
        <div
          role="list"
          aria-label={titleOf(key)}
          aria-busy={cards.count === null || undefined}
          style={{
            paddingBlockStart: tops[first] ?? 0,
            paddingBlockEnd: (tops[length] ?? 0) - (tops[last + 1] ?? 0),
          }}
        >
          {indexes.map((index) => {
            const id = cards.segments.idAt(index)
            return id === undefined ? (
              <CardBone key={`bone ${index}`} index={index} height={scroll.heightOf(index)} />
            ) : (
              <KanbanCard
                key={id}
                stackKey={key}
                id={id}
                index={index}
                count={length}
                width={cardWidth}
                observe={heights.observe}
              />
            )
          })}
        </div>
        {cards.count === 0 && own === null && <p className={styles.nothing}>{m.kanban_no_records()}</p>}
        <DropLine stackKey={key} />
      </div>
      {own?.at === 'bottom' && <Composer key="bottom" composer={own} />}
      {own?.at !== 'bottom' && mayAdd(key) && (
        <Button
          size="small"
          variant="ghost"
          icon={Plus}
          tabIndex={-1}
          className={styles.add}
          data-testid="stack-add"
          onClick={() => onAdd(key, 'bottom')}
        >
          {m.common_new_record()}
        </Button>
      )}
    </>
  )
}

/** Number of skeletons while the number of cards is unknown. */
const UNKNOWN = 4

/** Skeleton of a loading card. */
function CardBone({ index, height }: { index: number; height: number }) {
  return (
    <div className={styles.bone} style={{ blockSize: height }} aria-hidden data-testid="card-bone">
      <Skeleton width={`${45 + ((index * 17) % 40)}%`} height={16} />
      <Skeleton width={`${35 + ((index * 29) % 50)}%`} height={12} />
    </div>
  )
}

/** Marks where dragged cards would be dropped in a stack; `isWhole`: highlights the whole stack instead. */
function DropLine({ stackKey, isWhole = false }: { stackKey: StackKey; isWhole?: boolean }) {
  const { drag } = useKanbanContext()
  const line = useStore(drag.current, (current) => {
    return current?.kind === 'cards' && current.over?.key === stackKey ? current.over.lineTop : null
  })
  if (line === null) return null
  return (
    <div
      aria-hidden
      className={isWhole ? styles.dropWhole : styles.dropLine}
      style={isWhole ? undefined : { insetBlockStart: line - 5 }}
      data-testid="drop-line"
    />
  )
}
