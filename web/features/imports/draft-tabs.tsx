import { CircleAlert, X } from 'lucide-react'
import { m } from '../../messages.gen.ts'
import { IconButton } from '../../ui/button.tsx'
import { problemOf } from './draft.ts'
import styles from './import-dialog.module.css'
import type { Draft } from './use-drafts.ts'

interface DraftTabsProps {
  drafts: Draft[]
  active: Draft | undefined
  onChoose: (key: number) => void
  onRemove: (key: number) => void
}

/** The files of an import of several, to look at one at a time. */
export function DraftTabs({ drafts, active, onChoose, onRemove }: DraftTabsProps) {
  return (
    <ul className={styles.tabs} aria-label={m.common_files()}>
      {drafts.map((draft) => {
        const isAmiss =
          draft.error !== null || (draft.analysis && problemOf(draft.columns, draft.target) !== null)
        return (
          <li key={draft.key} className={styles.tab} data-active={draft === active || undefined}>
            <button
              type="button"
              aria-current={draft === active || undefined}
              onClick={() => onChoose(draft.key)}
            >
              {isAmiss && <CircleAlert size={14} aria-label={m.imports_needs_attention()} />}
              <span dir="auto">{draft.source.name}</span>
            </button>
            <IconButton
              icon={X}
              iconSize={13}
              size="small"
              label={m.common_remove_name({ name: draft.source.name })}
              onClick={() => onRemove(draft.key)}
            />
          </li>
        )
      })}
    </ul>
  )
}
