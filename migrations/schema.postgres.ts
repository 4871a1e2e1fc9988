import { defineAuthTables } from '../modules/auth/tables.ts'
import { defineBackupsTables } from '../modules/backups/tables.ts'
import { defineBaseImportsTables } from '../modules/base-imports/tables.ts'
import { defineBasesTables } from '../modules/bases/tables.ts'
import { defineCommentsTables } from '../modules/comments/tables.ts'
import { defineHooksTables } from '../modules/hooks/tables.ts'
import { defineImportsTables } from '../modules/imports/tables.ts'
import { defineIndexesTables } from '../modules/indexes/tables.ts'
import { defineNotificationTables } from '../modules/notifications/tables.ts'
import { definePluginsTables } from '../modules/plugins/tables.ts'
import { defineRecordsTables } from '../modules/records/tables.ts'
import { defineSchemaTables } from '../modules/schema/tables.ts'
import { defineTrashTables } from '../modules/trash/tables.ts'
import { defineViewsTables } from '../modules/views/tables.ts'
import { postgresColumns as columns } from '../src/db/columns.ts'
import { defineJobsTable } from '../src/db/jobs-table.ts'
import { defineLimitsTable } from '../src/db/limits-table.ts'
import { defineOutboxTable } from '../src/mail/outbox-table.ts'

/** What drizzle-kit compares the committed migrations with. */
export const { audits, users, sessions, passwordResets, apiTokens, memberships, shares, settings } = defineAuthTables(columns)
export const { bases, sources, basePreferences } = defineBasesTables(columns)
export const { tables, fields } = defineSchemaTables(columns)
export const { views, viewFields } = defineViewsTables(columns)
export const { attachmentFiles, attachmentUses, feedPositions } = defineRecordsTables(columns)
export const { uploads } = defineImportsTables(columns)
export const { detachedFiles } = defineTrashTables(columns)
export const { baseImports, baseImportObjects, baseImportProblems } = defineBaseImportsTables(columns)
export const { tableIndexes, tableReads } = defineIndexesTables(columns)
export const { plugins, fileBuckets } = definePluginsTables(columns)
export const { comments, commentReactions } = defineCommentsTables(columns)
export const { notifications, notificationSettings, watches } = defineNotificationTables(columns)
export const { hooks, hookDeliveries } = defineHooksTables(columns)
export const { backupSettings } = defineBackupsTables(columns)
export const jobs = defineJobsTable(columns)
export const mails = defineOutboxTable(columns)
export const limitCounts = defineLimitsTable(columns)
