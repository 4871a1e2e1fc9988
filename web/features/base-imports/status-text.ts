import type { BaseImport, BaseImportStatus, ImportStep } from '../../../src/core/base-imports.ts'
import { m } from '../../messages.gen.ts'

const STATUS: Record<BaseImportStatus, () => string> = {
  running: m.base_imports_running,
  paused: m.base_imports_paused,
  completed: m.base_imports_completed,
  failed: m.base_imports_failed,
  cancelled: m.base_imports_cancelled,
}

const STEPS: Record<ImportStep, () => string> = {
  schema: m.base_imports_step_schema,
  records: m.base_imports_step_records,
  links: m.base_imports_step_links,
  computed: m.base_imports_step_computed,
  comments: m.base_imports_step_comments,
  views: m.base_imports_step_views,
}

/** The state of an import, and the step that it is at. */
export const statusText = ({ status }: Pick<BaseImport, 'status'>): string => STATUS[status]()
export const stepText = ({ step }: Pick<BaseImport, 'step'>): string => STEPS[step]()
