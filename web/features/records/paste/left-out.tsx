import { TriangleAlert, X } from 'lucide-react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import { m } from '../../../messages.gen.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { lazyDialog } from '../../../ui/lazy-dialog.ts'
import { openDialog } from '../../../ui/open-dialog.tsx'
import styles from '../bars/table-view.module.css'
import type { LeftOutText } from './left-out-dialog.tsx'

const LeftOutDialog = lazyDialog(() => import('./left-out-dialog.tsx'), 'LeftOutDialog')

/** Values that the last paste or fill could not write, by table; kept until dismissed or replaced. */
const leftOut = createStore<ReadonlyMap<string, readonly LeftOutText[]>>(() => new Map())

/** Shows the skipped values above the records of a table until dismissed. */
export function tellLeftOut(tableId: string, texts: readonly LeftOutText[]): void {
  if (texts.length > 0) leftOut.setState((lists) => new Map(lists).set(tableId, texts), true)
}

function forget(tableId: string): void {
  const next = new Map(leftOut.getState())
  next.delete(tableId)
  leftOut.setState(next, true)
}

/** A bar above the records that lists skipped values on demand. `onFocus` returns the focus to the view. */
export function LeftOutBar({ tableId, onFocus }: { tableId: string; onFocus: () => void }) {
  const texts = useStore(leftOut, (lists) => lists.get(tableId))
  const show = (all: readonly LeftOutText[]) =>
    openDialog((close) => (
      <LeftOutDialog
        texts={all}
        onClose={() => {
          close()
          // After the dialog has restored the focus.
          queueMicrotask(onFocus)
        }}
      />
    ))
  return (
    <div role="status">
      {texts && (
        <div className={styles.leftOut} data-testid="left-out">
          <TriangleAlert size={14} aria-hidden />
          <span>{m.records_values_invalid_not_pasted({ count: texts.length })}</span>
          <Button size="small" variant="ghost" onClick={() => show(texts)}>
            {m.records_show()}
          </Button>
          <IconButton
            icon={X}
            size="small"
            iconSize={14}
            label={m.records_dismiss()}
            onClick={() => {
              forget(tableId)
              onFocus()
            }}
          />
        </div>
      )}
    </div>
  )
}
