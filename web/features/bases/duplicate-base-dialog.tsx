import type { Base } from '../../../src/core/model.ts'
import { api } from '../../trpc.ts'
import { DuplicateDialog } from './duplicate-dialog.tsx'

export interface DuplicateBaseDialogProps {
  base: Base
  onClose: () => void
}

/** Copies a base, from its menu. */
export function DuplicateBaseDialog({ base, onClose }: DuplicateBaseDialogProps) {
  return (
    <DuplicateDialog
      title={base.title}
      start={(options) => api.copies.base.mutate({ baseId: base.id, options })}
      onClose={onClose}
    />
  )
}
