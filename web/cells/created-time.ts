import { CalendarPlus } from 'lucide-react'
import { createdTime } from '../../src/core/fields/date-time.ts'
import { systemTimeCell } from './system-time.tsx'

/** When the record was made. */
export const createdTimeCell = systemTimeCell(createdTime, CalendarPlus)
