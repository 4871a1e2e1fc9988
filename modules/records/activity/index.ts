/** The entries of a base's change log as its activity shows them, and the records that an entry touched. */

export { createActivity, type LogFilter, type LoggedItem } from './activity.ts'
