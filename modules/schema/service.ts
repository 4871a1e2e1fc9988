import type { Kernel } from '../../src/kernel.ts'
import type { AuthService } from '../auth/index.ts'
import type { BasesService } from '../bases/index.ts'
import {
  createApplyChange,
  createApplyScript,
  FIELD_EXPRESSIONS,
  type SchemaContext,
  TABLE_VIEWS,
} from './change/index.ts'
import { createSchemaStore } from './model/index.ts'
import { createSchemaReader, type SchemaReader } from './reader.ts'
import { registerSchemaUndo } from './trash/index.ts'
import { createSchemaWriter, type SchemaWriter } from './writer.ts'

/** Reads and changes tables and fields. Modules that only read take a `SchemaReader`. */
export type SchemaService = SchemaReader & SchemaWriter

/** Creates the service and registers the undo of schema changes. */
export function createSchemaService(
  kernel: Kernel,
  auth: Pick<AuthService, 'access'>,
  bases: BasesService,
): SchemaService {
  const { access } = auth
  const store = createSchemaStore(kernel, bases)
  const apply = createApplyChange(kernel, store)
  const context: SchemaContext = {
    kernel,
    access,
    bases,
    store,
    apply,
    get views() {
      return kernel.registry.get(TABLE_VIEWS)
    },
    get expressions() {
      return kernel.registry.get(FIELD_EXPRESSIONS)
    },
    applyScript: createApplyScript(kernel, store),
  }
  registerSchemaUndo(context)

  return { ...createSchemaReader(context), ...createSchemaWriter(context) }
}
