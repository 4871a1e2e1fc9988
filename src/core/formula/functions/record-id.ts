import type { Build, Value } from '../build.ts'
import { defineFunction } from './define.ts'

/** The id of the record, as text. */
export const recordId = defineFunction({
  name: 'RECORD_ID',
  syntax: 'RECORD_ID()',
  help: 'The record id as text.',
  examples: { 'LEN(RECORD_ID()) > 0': true },
  args: [],
  min: 0,
  max: 0,
  returns: 'text',
  evaluate: (_args, { recordId }) => (recordId === null ? null : String(recordId)),
  compile<S>(_args: Value<S>[], build: Build<S>): S {
    return build.recordId
  },
})
