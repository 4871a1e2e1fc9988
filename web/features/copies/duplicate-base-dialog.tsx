import type { Base } from '../../../src/core/model.ts'
import { t } from '../../i18n.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { api, cache } from '../../trpc.ts'
import { copyTitle, DuplicateDialog } from './duplicate-dialog.tsx'

export interface DuplicateBaseDialogProps {
  base: Base
  onClose: () => void
}

/** Copies a base, from its menu, and opens the copy. */
export function DuplicateBaseDialog({ base, onClose }: DuplicateBaseDialogProps) {
  return (
    <DuplicateDialog
      title={base.title}
      newTitle={copyTitle(base.title)}
      labels={{
        views: t('Include all views'),
        waiting: t('Duplicating the base. It appears in your base list when ready.'),
      }}
      problemOf={(name) => (name === '' ? t('Enter a name') : null)}
      start={async (options) => {
        const { jobId, baseId } = await api.copies.base.mutate({ baseId: base.id, options })
        return {
          jobId,
          async finish() {
            await cache.bases.list.invalidate()
            return t('“{title}” is ready', { title: options.title })
          },
          open: () => goTo(paths.base(baseId)),
        }
      }}
      onClose={onClose}
    />
  )
}
