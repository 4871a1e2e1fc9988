import { CalendarSync } from 'lucide-react'
import { lastModifiedTime } from '../../src/core/fields/date-time.ts'
import { systemTimeCell } from './system-time.tsx'

/** When the record was last changed. */
export const lastModifiedTimeCell = systemTimeCell(lastModifiedTime, CalendarSync)
