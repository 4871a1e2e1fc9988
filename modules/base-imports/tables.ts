import type { Columns } from '../../src/db/columns.ts'

/** Imports of whole bases, what they have created, and what they could not bring. */
export function defineBaseImportsTables(c: Columns) {
  const baseImports = c.table(
    'base_imports',
    {
      id: c.text('id').primaryKey(),
      userId: c.text('user_id').notNull(),
      /** Null until a new base is created. */
      baseId: c.text('base_id'),
      /** True if the import creates the base. */
      createsBase: c.flag('creates_base').notNull(),
      /** Kind of the source, see `sources/index.ts`. */
      source: c.text('source').notNull(),
      /** Id and title of the base in its source. */
      sourceBaseId: c.text('source_base_id').notNull(),
      title: c.text('title').notNull(),
      /** What to bring, see `ImportChoices`. */
      choices: c.json('choices').notNull(),
      /** The user as whom records are written. */
      actor: c.json('actor').notNull(),
      /** Sealed JSON; null once they are no longer needed. */
      credentials: c.text('credentials'),
      keepsCredentials: c.flag('keeps_credentials').notNull(),
      status: c.text('status').notNull(),
      error: c.text('error'),
      /** The job that runs it, or ran it last. */
      jobId: c.text('job_id'),
      /** 1 for the first run, more for later synchronisations. */
      run: c.integer('run').notNull(),
      /** Where the run goes on, see `RunState`. */
      state: c.json('state').notNull(),
      createdAt: c.text('created_at').notNull(),
      updatedAt: c.text('updated_at').notNull(),
    },
    (table) => [
      c.index('base_imports_user').on(table.userId, table.createdAt),
      c.index('base_imports_base').on(table.baseId),
    ],
  )
  const baseImportObjects = c.table(
    'base_import_objects',
    {
      importId: c.text('import_id').notNull(),
      /**
       * `table`, `field`, `view`, `record:` with the id of the source's table, or `comment:` with those of table and record. `person`
       * and `match`: people and the members chosen for them, see `roster.ts`. `names`: fields with the names of others.
       */
      scope: c.text('scope').notNull(),
      sourceId: c.text('source_id').notNull(),
      targetId: c.text('target_id').notNull(),
      /** Of a record or comment: hash of its values or text, of a record also what it lacks, of a comment its author. Of a field: how it was created, see `FieldState`. Of a table: its title there. Of a view: see `ViewState`. */
      digest: c.text('digest'),
      /** Of a record: links and computed values that later steps of the run need, see `PendingValues`. */
      pending: c.text('pending'),
      /** The last run that found it in the source. */
      run: c.integer('run').notNull(),
    },
    (table) => [c.primaryKey({ columns: [table.importId, table.scope, table.sourceId] })],
  )
  const baseImportProblems = c.table(
    'base_import_problems',
    {
      importId: c.text('import_id').notNull(),
      /** Hash of the other columns, so that a repeated step reports a problem once. */
      id: c.text('id').notNull(),
      run: c.integer('run').notNull(),
      tableTitle: c.text('table_title'),
      fieldTitle: c.text('field_title'),
      viewTitle: c.text('view_title'),
      recordId: c.text('record_id'),
      /** What happened to it: `skipped`, `changed` or `note`. */
      kind: c.text('kind').notNull(),
      reason: c.text('reason').notNull(),
      /** The beginning of the value in question. */
      value: c.text('value'),
    },
    (table) => [c.primaryKey({ columns: [table.importId, table.id] })],
  )
  return { baseImports, baseImportObjects, baseImportProblems }
}
