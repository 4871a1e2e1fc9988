import type { Base } from '../../../src/core/model.ts'
import { m } from '../../messages.gen.ts'
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
        views: m.copies_include_all_views(),
        waiting: m.copies_duplicating_base_appears_base_list(),
      }}
      problemOf={(name) => (name === '' ? m.common_enter_a_name() : null)}
      start={async (options) => {
        const { jobId, baseId } = await api.copies.base.mutate({ baseId: base.id, options })
        return {
          jobId,
          async finish() {
            await cache.bases.list.invalidate()
            return m.copies_title_is_ready({ title: options.title })
          },
          open: () => goTo(paths.base(baseId)),
        }
      }}
      onClose={onClose}
    />
  )
}
