/**
 * Tables of connected databases: reading what is there and following its changes.
 */

export type { SyncChange } from './differences.ts'
export { createSyncService, type SourceDifferences } from './service.ts'
