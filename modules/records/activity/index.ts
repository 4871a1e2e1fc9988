/** The entries of a base's change log as its activity shows them, and the records that an entry touched. */

export { createActivity, type LogFilter, type LoggedItem, MAX_ENTRY_RECORDS } from './activity.ts'
