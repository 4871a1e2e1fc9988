import { useState } from 'react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import type { Values } from '../../../../src/core/changes.ts'
import { readAttachments, writeAttachments } from '../../../../src/core/fields/attachment-item.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { FileTarget } from '../../../attachments/file-target.ts'
import { useFormUploads } from '../../../attachments/uploads.ts'

/** The values of a form without a record: of a new record, or of a change to many. */
export interface FormValues {
  /** Values at the last render. */
  values: Values
  /** Values now: uploads and blurs may have set some since the last render. */
  latest(): Values
  set(field: Field, value: CellValue): void
  /** Upload target of a field. */
  fileTarget(field: Field): FileTarget
  /** True while files are on their way: what the form submits now would lack them. */
  isUploading: boolean
}

/**
 * Values of a form. Uploads that are on their way when it closes are cancelled.
 *
 * @param onChange called after a value was set
 */
export function useFormValues(start: Values = {}, onChange?: () => void): FormValues {
  const [{ id, store }] = useState(() => ({ id: crypto.randomUUID(), store: createStore(() => start) }))
  const set = (field: Field, value: CellValue) => {
    store.setState({ [field.id]: value })
    onChange?.()
  }
  return {
    values: useStore(store),
    latest: store.getState,
    set,
    isUploading: useFormUploads(id),
    fileTarget(field) {
      const current = (): CellValue => store.getState()[field.id] ?? null
      return {
        key: `${id} ${field.id}`,
        field,
        current,
        subscribe: store.subscribe,
        latest: async () => current(),
        begin: () => {},
        edit: (change) => set(field, writeAttachments(change(readAttachments(current())))),
      }
    },
  }
}
