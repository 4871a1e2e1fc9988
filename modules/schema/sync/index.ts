/**
 * Tables of connected databases: reading the structure of a database and synchronizing the metadata with it.
 */

export { createConnectedTable, type NewConnectedTable, requireWritableSource } from './create-table.ts'
export type { SyncChange } from './differences.ts'
export { createSyncService, type SourceDifferences } from './service.ts'
