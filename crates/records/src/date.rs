//! Dates as PDN writes them.

/// Formats the date (UTC) of a time in milliseconds since 1970: `2024.03.16`.
pub fn format_date(milliseconds: u64) -> String {
    let days = milliseconds / (24 * 60 * 60 * 1000);
    // Counts from 1 March of the year 0, so that a leap day is the last day of its year and the
    // calendar repeats every 146,097 days (400 years).
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // From March on, every five months have 153 days.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = match month {
        0..10 => (era * 400 + year, month + 3),
        _ => (era * 400 + year + 1, month - 9),
    };
    format!("{year:04}.{month:02}.{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_handle_leap_years_and_centuries() {
        for (days, date) in [
            (0, "1970.01.01"),
            (59, "1970.03.01"),
            (11_016, "2000.02.29"),
            (11_017, "2000.03.01"),
            (20_088, "2024.12.31"),
            (47_540, "2100.02.28"),
            (47_541, "2100.03.01"),
        ] {
            assert_eq!(format_date(days * 86_400_000 + 86_399_999), date);
        }
    }
}
